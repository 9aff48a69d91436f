import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { demosPart } from '../../../../src/core/jobs/ids.js';
import type { EditKind } from '../../../../src/core/prompts/changes/align.js';
import { signOf } from '../../../../src/core/prompts/changes/report.js';
import type { WordPiece } from '../../../../src/core/prompts/changes/words.js';
import { Words } from './marked.js';

export interface ListedEdit {
  kind: EditKind;
  component: string;
  from: number | null;
  to: number | null;
  before: string | null;
  after: string | null;
  words: readonly WordPiece[] | null;
}

/** The edits of a prompt, each with what `children` says below it. */
export function EditList<Edit extends ListedEdit>(props: {
  edits: readonly Edit[];
  /** All edits, of which the list has the first. */
  total?: number;
  /** Edits in the list before it is unfolded. */
  most?: number;
  children?: (edit: Edit) => ComponentChildren;
}) {
  const { edits, children, total = edits.length, most = 100 } = props;
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? edits : edits.slice(0, most);
  const isNamed = new Set(edits.map(({ component }) => component)).size > 1;
  return (
    <>
      <p class="quiet">{countWords(edits)}</p>
      <ul class="edits" aria-label="Edits">
        {shown.map((edit) => (
          <li key={`${edit.component} ${edit.from} ${edit.to}`} class={`edit edit-${edit.kind}`}>
            <span class="edit-sign" title={edit.kind} aria-label={edit.kind} role="img">
              {signOf(edit.kind)}
            </span>
            <div class="edit-body">
              {isNamed && (
                <span class="quiet mono">{edit.component === demosPart ? 'demonstrations' : edit.component} </span>
              )}
              <span class="edit-text" dir="auto">
                <EditText edit={edit} />
              </span>
              {children?.(edit)}
            </div>
          </li>
        ))}
      </ul>
      {edits.length > shown.length && (
        <button type="button" class="button button-small" onClick={() => setOpen(true)}>
          Show all {edits.length}
        </button>
      )}
      {total > edits.length && (
        <p class="quiet">
          These are the first {edits.length} of {total} edits.
        </p>
      )}
    </>
  );
}

function EditText({ edit: { kind, before, after, words } }: { edit: ListedEdit }) {
  if (words !== null) return <Words pieces={words} />;
  if (kind === 'added') return <ins>{after}</ins>;
  if (kind === 'removed') return <del>{before}</del>;
  return <>{after}</>;
}

/** `2 added, 1 changed, 3 moved` */
function countWords(edits: readonly ListedEdit[]): string {
  const counts = (['added', 'changed', 'removed', 'moved'] as const).flatMap((kind) => {
    const count = edits.filter((edit) => edit.kind === kind).length;
    return count === 0 ? [] : [`${count} ${kind}`];
  });
  return counts.length === 0 ? 'No sentence differs.' : counts.join(', ');
}
