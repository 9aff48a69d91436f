import { client } from '../../../client.js';
import { ActionButton } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import type { DialogProps } from '../actions.js';

/** Asks before a session is cancelled. */
export function CancelDialog({ session, onClose, onDone }: DialogProps) {
  const cancel = async () => {
    await client.value.request('cancelSession', { path: { session_id: session.session_id }, body: null });
    await onDone();
    onClose();
  };
  return (
    <Dialog title="Cancel this session?" onClose={onClose}>
      <p>The search ends now, without a comparison on held-out seeds. What it has found stays.</p>
      <div class="bar">
        <ActionButton kind="danger" run={cancel}>
          Cancel the session
        </ActionButton>
        <button type="button" class="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
