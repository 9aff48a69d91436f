import { useState } from 'preact/hooks';
import { client } from '../../../client.js';
import { Field } from '../../../ui/basics.js';
import type { DialogProps } from '../actions.js';
import { FormDialog } from './form.js';

/** Name, tags and notes. */
export function LabelsDialog({ session, onClose, onDone }: DialogProps) {
  const [name, setName] = useState(session.name ?? '');
  const [tags, setTags] = useState(session.tags.join(', '));
  const [notes, setNotes] = useState(session.notes ?? '');
  const save = () => {
    const list = tags.split(',').map((tag) => tag.trim());
    const body = { name: name.trim() || null, tags: list.filter(Boolean), notes: notes.trim() || null };
    return client.value.request('updateSession', { path: { session_id: session.session_id }, body }).then(onDone);
  };
  return (
    <FormDialog title="Name, tags and notes" submit="Save" run={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <Field label="Name" error={errorOf('/name')}>
            <input value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
          </Field>
          <Field label="Tags" hint="Separated by commas." error={errorOf('/tags')}>
            <input value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
          </Field>
          <Field label="Notes" error={errorOf('/notes')}>
            <textarea
              rows={4}
              maxLength={4_000}
              value={notes}
              onInput={(event) => setNotes(event.currentTarget.value)}
            />
          </Field>
        </>
      )}
    </FormDialog>
  );
}
