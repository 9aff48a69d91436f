/** Words that nobody reads whose job has rows; names of fields, such as `train_seeds`, may. */
export const wordsOfExperts = /(?<![.\w])(seeds?|rollouts?|levers?|sensors?)\b/i;

/** Other names of train, evaluation and held-out rows, which are called nothing else. */
export const otherPartNames =
  /\b(?:(?:test|validation|dev|training|holdout|selection|frontier) (?:rows?|seeds?|tasks?|sets?|split)|held out (?:rows?|seeds?|tasks?))\b/i;
