import type { Item } from '../../../../src/client/index.js';
import { Badge } from '../../ui/basics.js';

type Judged = Pick<Item<'listCheckups'>, 'status' | 'verdict' | 'approval'>;

/** The verdict of a checkup; its status while there is none, and of one that failed. */
export function VerdictBadge({ checkup: { status, verdict, approval } }: { checkup: Judged }) {
  return (
    <>
      <Badge status={status === 'completed' && verdict ? verdict : status} />{' '}
      {approval === 'pending' && <Badge status="paused" text="awaits approval" />}
    </>
  );
}
