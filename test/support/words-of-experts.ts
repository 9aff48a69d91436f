/** Words that nobody reads whose job has rows; fields of the API, such as `train_seeds`, are none. */
export const wordsOfExperts = /(?<![.\w])(seeds?|rollouts?|levers?|sensors?)\b/i;
