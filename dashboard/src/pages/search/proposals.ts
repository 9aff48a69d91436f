/** What became of the proposals of a search, in words. */
import type { Event } from '../../../../src/client/index.js';
import { refusedByCause } from '../../../../src/core/diagnosis/proposals.js';
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

/** The counts of an open search, as its events tell them with its decisions. */
export class ProposalTally {
  /** By candidate: its last decision; null: not tested. */
  private readonly decisions = new Map<string, 'accepted' | 'rejected' | null>();
  private readonly reasons = new Map<string, number>();

  add({ type, data }: Event): void {
    switch (type) {
      case 'candidate_proposed':
        this.decisions.set(data.candidate_id, null);
        break;
      case 'candidate_accepted':
        this.decisions.set(data.candidate_id, 'accepted');
        break;
      case 'candidate_rejected':
        this.decisions.set(data.candidate_id, 'rejected');
        break;
      case 'proposal_failed':
        this.reasons.set(data.reason, (this.reasons.get(data.reason) ?? 0) + 1);
        break;
      default:
    }
  }

  get counts(): ProposalCounts {
    const decided = [...this.decisions.values()];
    const refusals = [...this.reasons].map(([reason, times]) => ({ reason, count: times }));
    return {
      written: decided.length,
      accepted: decided.filter((decision) => decision === 'accepted').length,
      rejected: decided.filter((decision) => decision === 'rejected').length,
      refused: refusedByCause(refusals.sort((one, other) => other.count - one.count)),
    };
  }
}
