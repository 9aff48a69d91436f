/** Words that nobody reads whose job has rows; names of fields, such as `train_seeds`, may. */
export const wordsOfExperts = /(?<![.\w])(seeds?|rollouts?|levers?|sensors?)\b/i;
