/** What became of the proposals of a search, in words. */
import { count } from '../../util/format.js';
import type { ProposalCounts } from '../../data/diagnosis.js';

const causes = {
  duplicate: 'repeated a known text',
  too_long: 'too long',
  unusable: 'could not be read',
  failed: 'failed',
} as const;

/** All proposals, and what became of them. */
export function proposalFigures({ written, accepted, rejected, refused }: ProposalCounts) {
  const open = written - accepted - rejected;
  const parts = [
    [accepted, 'accepted'],
    [rejected, 'not better on train rows'],
    [open, 'not tested'],
    ...refused.map(({ cause, count: refusals }) => [refusals, causes[cause]] as const),
  ] as const;
  return {
    total: written + refused.reduce((total, { count: refusals }) => total + refusals, 0),
    parts: parts.filter(([amount]) => amount > 0).map(([amount, said]) => `${count(amount)} ${said}`),
  };
}
