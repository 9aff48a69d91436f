/** The reasons for refused proposals that are counted by their kind. */

export const duplicateProposal = 'duplicate: the proposed text is that of a known candidate';

export const tooLongProposal = (tokens: number, most: number): string =>
  `the prompt has about ${tokens} tokens; max_prompt_tokens allows ${most}`;

export const isTooLong = (reason: string): boolean => reason.includes('max_prompt_tokens');

const unusable = 'the proposer gave ';

export const unusableProposal = (tries: number, last: string): string =>
  `${unusable}${tries} unusable answers; the last: ${last}`;

export const isUnusable = (reason: string): boolean => reason.startsWith(unusable);
