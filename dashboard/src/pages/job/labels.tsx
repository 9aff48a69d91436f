import { useState } from 'preact/hooks';
import { Field } from '../../ui/basics.js';
import { FormDialog } from '../../ui/form-dialog.js';

export interface Labels {
  name: string | null;
  tags: string[];
  notes: string | null;
}

/** Name, tags and notes. */
export function LabelsDialog(props: { job: Labels; run: (labels: Labels) => Promise<unknown>; onClose: () => void }) {
  const { job, run, onClose } = props;
  const [name, setName] = useState(job.name ?? '');
  const [tags, setTags] = useState(job.tags.join(', '));
  const [notes, setNotes] = useState(job.notes ?? '');
  const save = () => {
    const list = tags.split(',').map((tag) => tag.trim());
    return run({ name: name.trim() || null, tags: list.filter(Boolean), notes: notes.trim() || null });
  };
  return (
    <FormDialog title="Name, tags and notes" submit="Save" run={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <Field label="Name" error={errorOf('/name')}>
            <input dir="auto" value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
          </Field>
          <Field label="Tags" hint="Separated by commas." error={errorOf('/tags')}>
            <input value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
          </Field>
          <Field label="Notes" error={errorOf('/notes')}>
            <textarea
              dir="auto"
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
