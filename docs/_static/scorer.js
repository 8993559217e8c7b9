/* The search lists pages that explain a word before the pages of a course, and these before the
   objects, scripts and lists that mention it. */
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (/^(generated|gallery)\/|^(bibliography|changelog|items|index|options|api|compare|theorems|systems_methods|howto|reference|explanation|course)$/.test(page))
      return score;
    if (/^(exercises|notes|gradient|generalisation|classes|history)$/.test(page)) return score + 10;
    return score + (/^(howto_|perfect_)/.test(page) ? 24 : 20);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
