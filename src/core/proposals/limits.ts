/** The longest message of a request, in characters; a winner must fit into one. */
const maxMessageChars = 100_000;

const usualChars = 32_000;
const room = 8_000;

/** The longest text, in characters, that may replace another: the usual, or that with room. */
export function maxProposalChars(parent: string): number {
  const most = Math.max(usualChars, parent.length + room);
  return Math.max(parent.length, Math.min(maxMessageChars, most));
}

/** The proposer's attempts for one text; each further one includes the error of the one before. */
export const proposalTries = 3;
