import { dictionary } from '../lib/language.js';

export const chatWords = dictionary('chat', {
  en: {
    tab: 'Chat',
    tagline: 'Talk, and see what a reply attended to',
    conversation: 'Conversation',
    say: 'Say something',
    send: 'Send',
    newTalk: 'New conversation',
    sayFirst: 'Say something; the model replies.',
    noChat: 'The server has no chat model.',
    you: 'You',
    replyAttended: 'What the reply attended to',
  },
  zh: {
    tab: '对话',
    tagline: '对话，并查看回答关注了什么',
    conversation: '对话',
    say: '说点什么',
    send: '发送',
    newTalk: '新对话',
    sayFirst: '说点什么，模型会回答。',
    noChat: '服务器上没有可用于对话的模型。',
    you: '您',
    replyAttended: '回答关注了什么',
  },
});
