import { useState } from 'preact/hooks';
import { client } from '../../client.js';
import { ActionButton, Field } from '../../ui/basics.js';
import { Dialog } from '../../ui/dialog.js';
import type { Evaluation } from './types.js';

/** Changes the name, the tags and the notes. */
export function LabelsDialog(props: { job: Evaluation; onDone: () => Promise<unknown>; onClose: () => void }) {
  const { job, onDone, onClose } = props;
  const [name, setName] = useState(job.name ?? '');
  const [tags, setTags] = useState(job.tags.join(', '));
  const [notes, setNotes] = useState(job.notes ?? '');
  const save = async () => {
    const list = tags.split(',').map((tag) => tag.trim());
    const body = { name: name.trim() || null, tags: list.filter(Boolean), notes: notes.trim() || null };
    await client.value.request('updateEvaluation', { path: { job_id: job.job_id }, body });
    await onDone();
    onClose();
  };
  return (
    <Dialog title="Name, tags and notes" onClose={onClose}>
      <Field label="Name">
        <input value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <Field label="Tags" hint="Separated by commas.">
        <input value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
      </Field>
      <Field label="Notes">
        <textarea rows={4} maxLength={4_000} value={notes} onInput={(event) => setNotes(event.currentTarget.value)} />
      </Field>
      <ActionButton kind="primary" run={save}>
        Save
      </ActionButton>
    </Dialog>
  );
}
