import { ActionButton } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';

/** Asks before a search is cancelled. */
export function CancelDialog(props: { kind: string; run: () => Promise<unknown>; onClose: () => void }) {
  const { kind, run, onClose } = props;
  return (
    <Dialog title={`Cancel this ${kind}?`} onClose={onClose}>
      <p>The search ends now, without a comparison on held-out seeds. What it has found stays.</p>
      <div class="bar">
        <ActionButton kind="danger" run={() => run().then(onClose)}>
          Cancel the {kind}
        </ActionButton>
        <button type="button" class="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
