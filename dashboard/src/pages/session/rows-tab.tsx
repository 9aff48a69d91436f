import { useState } from 'preact/hooks';
import { isActive } from '../../data/job.js';
import type { Session } from '../../data/session/types.js';
import { RowsTab } from '../rows/tab.js';
import { actionsOf } from './admitted.js';
import { HintDialog } from './dialogs/hint.js';

/** The rows of a session, from which a running one takes a hint. */
export function SessionRows({ session, onDone }: { session: Session; onDone: () => Promise<unknown> }) {
  const [hint, setHint] = useState<string | null>(null);
  return (
    <>
      <RowsTab
        jobId={session.session_id}
        isLive={isActive(session.status)}
        hasDataset={session.dataset !== undefined}
        heldout={session.split?.heldout.length ?? 0}
        giveHint={actionsOf(session).has('hint') ? setHint : null}
      />
      {hint !== null && <HintDialog session={session} draft={hint} onClose={() => setHint(null)} onDone={onDone} />}
    </>
  );
}
