// The tabs of the server's page. They are shown in the order of the server's models. A tab is an object with
//   task         the task as /models names it; also the tab's name in the address
//   words        its dictionary, with `tab` (the button) and `tagline` (the line next to the logo)
//   create(page) makes the tab; what it returns has
//     element                              what the tab shows
//     models(list, settings, languages)    receives the task's models whenever the server has listed them
//     open(parameters), address()          its state from the part of the address after #, and for it
//   and, where the tab needs them,
//     ask(delay)                           asks the server again: it is back, or another API key was typed
//     redraw()                             the language has changed
//     focus()                              the tab was chosen
//     notify(word)                         shows a short word of success
// page has trouble(kind, error), connection, locked() (an API key is missing), addressChanged() and copy(text,
// button, word). modelTab() of model_tab.js implements the common part of tabs whose task is done by one chosen
// model.
import { captionTab } from './caption.js';
import { chatTab } from './chat.js';
import { classifyTab } from './classify.js';
import { learnTab } from './learn.js';
import { translateTab } from './translate.js';

export const tabs = [translateTab, classifyTab, captionTab, chatTab, learnTab];
