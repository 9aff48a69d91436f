import { useState } from 'preact/hooks';
import { client } from '../../../data/client.js';
import { ActionButton, Field } from '../../../ui/basics.js';
import type { DialogProps } from './props.js';
import { FormDialog } from '../../../ui/form-dialog.js';

/** The hint that stands in the prompts of the proposer. `draft`: in place of the present one. */
export function HintDialog({ session, draft, onClose, onDone }: DialogProps & { draft?: string }) {
  const [hint, setHint] = useState(draft ?? session.hint ?? '');
  const give = (text: string | null) =>
    client.value
      .request('hintSession', { path: { session_id: session.session_id }, body: { hint: text } })
      .then(onDone);
  const remove = session.hint !== null && (
    <ActionButton run={() => give(null).then(onClose)}>Remove the hint</ActionButton>
  );
  return (
    <FormDialog
      title="Hint for the proposer"
      submit="Give the hint"
      run={() => give(hint)}
      onClose={onClose}
      more={remove}
    >
      {(errorOf) => (
        <Field
          label="Hint"
          hint="The proposer sees it from its next proposal on, in place of an earlier one."
          error={errorOf('/hint')}
        >
          <textarea
            dir="auto"
            rows={6}
            required
            maxLength={4_000}
            value={hint}
            onInput={(event) => setHint(event.currentTarget.value)}
          />
        </Field>
      )}
    </FormDialog>
  );
}
