// The course as a file: nothing is asked, the models' answers are in the page.
(function () {
  'use strict';
  const recorded = Fovea.data('recorded');
  const key = (question) => JSON.stringify(Object.entries(question).sort(([a], [b]) => (a < b ? -1 : 1)));
  const server = {
    live: false,
    train: async (id) => recorded[id].facts,
    async ask(id, question) {
      const found = recorded[id].answers.find((one) => key(one.question) === key(question));
      if (!found) throw new Error(Fovea.words.learn.recorded);
      return found.answer;
    },
  };
  const lead = document.querySelector('.lead');
  const course = Fovea.course(document.getElementById('view-learn'), server, (id) => {
    if (location.hash !== `#lesson=${id}`) history.replaceState(null, '', `#lesson=${id}`);
  });
  const wanted = () => new URLSearchParams(location.hash.slice(1)).get('lesson');
  Fovea.onLanguage(() => { lead.textContent = Fovea.words.taglines.learn; course.refresh(); });
  window.addEventListener('hashchange', () => course.show(wanted()));
  course.show(wanted());
  Fovea.pageTools();
})();
