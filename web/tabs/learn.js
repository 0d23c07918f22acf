// The course as a tab, where the server offers it. The address: task=learn&lesson=softmax.
import { Course } from '../course/course.js';
import { make } from '../lib/dom.js';
import { api } from '../server/api.js';
import { learnWords } from '../words/learn.js';

const POLL = 250; // milliseconds between two questions about the progress of a training

const server = {
  live: true,
  trained: new Set(), // lessons whose models the server has
  async train(id, again, progress, signal) {
    let done = false;
    const poll = async () => {
      while (!done && !signal.aborted) {
        try {
          const { training } = await api.learn.state();
          if (!done) progress(training);
        } catch (error) {
          // The training itself reports what is wrong.
        }
        await new Promise((go) => setTimeout(go, POLL));
      }
    };
    poll();
    try {
      const facts = await api.learn.train({ lesson: id, again }, signal);
      server.trained.add(id);
      return facts;
    } finally {
      done = true;
    }
  },
  ask: (id, question) => api.learn.ask({ lesson: id, question }),
};

function create(page) {
  const element = make('div', { id: 'view-learn', hidden: true });
  let course = null;
  let wanted = '';
  return {
    element,
    async models(list, settings) {
      if (!settings || !settings.fovea || !settings.fovea.learn) return;
      try {
        server.trained = new Set((await api.learn.state()).trained);
      } catch (error) {
        // A lesson's models are trained when the reader asks for them.
      }
      if (course) return;
      course = new Course(element, server, () => page.addressChanged());
      course.show(wanted);
    },
    open(parameters) {
      wanted = parameters.lesson || '';
      if (course && wanted && wanted !== course.id) course.show(wanted);
    },
    address: () => ({ lesson: course ? course.id : wanted }),
    redraw() {
      if (course) course.refresh();
    },
  };
}

export const learnTab = { task: 'learn', words: learnWords, create };
