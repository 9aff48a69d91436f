/** The form of an API key that an operator chooses: long enough that nobody guesses it. */
export const chosenKey = /^[\x21-\x7e]{32,500}$/;
