// The course as a tab of the server's page, where the server offers it. Its address: task=learn&lesson=softmax.
(function () {
  'use strict';
  const POLL = 250; // ms between questions how far a training is
  Fovea.view('learn', (page) => {
    const element = document.getElementById('view-learn');
    const server = {
      live: true, trained: new Set(),
      async train(id, again, progress, signal) {
        let done = false;
        const poll = async () => {
          while (!done && !signal.aborted) {
            try { const { training } = await Fovea.api.learn.state(); if (!done) progress(training); } catch (error) { /* the training itself will say */ }
            await new Promise((go) => setTimeout(go, POLL));
          }
        };
        poll();
        try {
          const facts = await Fovea.api.learn.train({ lesson: id, again }, signal);
          server.trained.add(id);
          return facts;
        } finally { done = true; }
      },
      ask: (id, question) => Fovea.api.learn.ask({ lesson: id, question }),
    };
    let course = null;
    let wanted = '';
    const start = () => {
      if (course) return;
      course = Fovea.course(element, server, () => page.wrote());
      course.show(wanted);
    };
    return {
      element,
      async models(list, settings) {
        if (!settings || !settings.fovea || !settings.fovea.learn) return;
        try { server.trained = new Set((await Fovea.api.learn.state()).trained); } catch (error) { /* they are trained when they are asked for */ }
        start();
      },
      again() {}, keyChanged() {}, say() {},
      follow(to) { wanted = to.lesson || ''; if (course && wanted && wanted !== course.id) course.show(wanted); },
      address: () => ({ text: '', lesson: course ? course.id : wanted }),
      wordsChanged() { if (course) course.refresh(); },
      focus() {},
    };
  });
})();
