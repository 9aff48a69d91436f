import { rowsOf } from '../../data/rows/source.js';
import type { RowGroup } from '../../data/rows/types.js';
import { useResource } from '../../data/resource.js';
import type { Results, Session } from '../../data/session/types.js';
import { Panel } from '../../ui/basics.js';
import { editsOfPrompt } from '../../ui/changes/edits.js';
import { EditList } from '../../ui/changes/edit-list.js';
import { counted } from '../../../../src/core/math/words.js';
import { isTerminal } from '../../../../src/core/jobs/status.js';
import { here } from '../../util/router.js';

const mostEdits = 5;

/** What the best prompt of an ended search changed: its text, and the rows it fixed and broke. */
export function WinnerPanel({ session, results }: { session: Session; results: Results | undefined }) {
  const { best_prompt: best, baseline_prompt: baseline, best_candidate: candidate } = results ?? {};
  if (!isTerminal(session.status) || !best || !baseline || !candidate) return null;
  const edits = editsOfPrompt(baseline.messages, best.messages);
  return (
    <Panel
      title="What the best prompt changed"
      aside={
        <a href={here({ tab: 'prompt' })}>
          {edits.length > mostEdits ? `All ${edits.length} edits` : 'The whole prompt'}
        </a>
      }
    >
      <ChangedRows key={candidate.candidate_id} id={session.session_id} />
      <EditList edits={edits.slice(0, mostEdits)} />
    </Panel>
  );
}

/** How many rows it answers right that the baseline answered wrong, and the reverse. */
function ChangedRows({ id }: { id: string }) {
  const { data } = useResource(`changed rows ${id}`, (signal) => rowsOf(id).summary({}, signal));
  if (!data) return <p class="quiet">&nbsp;</p>;
  const { fixed, broken, failing } = data.groups;
  const rowsIn = (group: RowGroup, rows: number) =>
    rows === 0 ? 'no row' : <a href={here({ tab: 'rows', group })}>{counted(rows, 'row')}</a>;
  return (
    <p>
      Beside the baseline it fixed {rowsIn('fixed', fixed)} and broke {rowsIn('broken', broken)}. Still wrong:{' '}
      {rowsIn('failing', failing)}.
    </p>
  );
}
