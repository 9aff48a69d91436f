/** The longest text of a proposal, in characters. */
export const maxProposalChars = 32_000;

/** The proposer's attempts for one text; each further one includes the error of the one before. */
export const proposalTries = 3;
