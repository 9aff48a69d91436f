import { rowsOf } from '../../data/rows/source.js';
import type { RowGroup, RowsSummary } from '../../data/rows/types.js';
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
    <Panel title="What the best prompt changed" aside={<a href={here({ tab: 'prompt' })}>The whole prompt</a>}>
      <ChangedRows key={candidate.candidate_id} id={session.session_id} />
      <EditList edits={edits} most={mostEdits} />
    </Panel>
  );
}

/** What it changed on the held-out rows, which nothing learned from, then on all rows. */
function ChangedRows({ id }: { id: string }) {
  const { data } = useResource(`changed rows ${id}`, async (signal) => {
    const source = rowsOf(id);
    const [heldout, all] = await Promise.all([source.summary({ seen: false }, signal), source.summary({}, signal)]);
    return { heldout, all };
  });
  if (!data) return <p class="quiet">&nbsp;</p>;
  const { heldout, all } = data;
  if (heldout.total === 0) return <Changes name={counted(all.total, 'row')} groups={all.groups} />;
  return (
    <>
      <Changes name={counted(heldout.total, 'held-out row')} groups={heldout.groups} seen="false" />
      <Changes name={`all ${counted(all.total, 'row')}`} groups={all.groups} />
    </>
  );
}

/** How many rows it answers right that the baseline answered wrong, and the reverse. */
function Changes(props: { name: string; groups: RowsSummary['groups']; seen?: 'false' }) {
  const { name, groups, seen = null } = props;
  const rowsIn = (group: RowGroup) => {
    const rows = groups[group];
    return rows === 0 ? 'no row' : <a href={here({ tab: 'rows', group, seen })}>{counted(rows, 'row')}</a>;
  };
  return (
    <p>
      On {name}, it fixed {rowsIn('fixed')} and broke {rowsIn('broken')}; both are wrong on {rowsIn('failing')}.
    </p>
  );
}
