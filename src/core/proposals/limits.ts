/** The longest text, in characters, that a proposer's answer may make a candidate. */
export const maxProposalChars = 32_000;

/** Answers of the proposer for one text; each after the first is told what was wrong with the one before. */
export const proposalTries = 3;
