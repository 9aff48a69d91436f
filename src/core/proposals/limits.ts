/** The longest text of a proposal, in characters. */
export const maxProposalChars = 32_000;

/**
 * Attempts of the proposer for one text; each after the first includes the error of the one before.
 */
export const proposalTries = 3;
