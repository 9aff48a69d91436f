import {
  ablationPrice,
  editKey,
  startAblation,
  type Ablation,
  type Changes,
  type Edit,
} from '../../../data/changes.js';
import { isActive } from '../../../data/job.js';
import { useResource } from '../../../data/resource.js';
import { Loading, Problem } from '../../../ui/basics.js';
import { ConfirmButton } from '../../../ui/confirm.js';
import { signed } from '../../../../../src/core/math/words.js';
import { dollars } from '../../../util/format.js';
import { link, pageOf } from '../../../util/router.js';

interface Props {
  changes: Changes;
  edit: Edit;
  ablations: ReadonlyMap<string, Ablation>;
  onStarted: () => Promise<void>;
}

/** What an evaluation without the edit shows, or the button that starts it. */
export function AblationOf({ changes, edit, ablations, onStarted }: Props) {
  if (edit.to === null || edit.kind === 'moved') return null;
  const known = ablations.get(editKey(edit));
  if (known && known.job.status !== 'failed' && known.job.status !== 'cancelled')
    return <AblationResult ablation={known} candidateId={changes.candidate_id} />;
  const { ablation } = changes;
  if (ablation === null) return null;
  const request = {
    sessionId: changes.job_id,
    candidateId: changes.candidate_id,
    edit,
    againstId: changes.against_id,
  };
  return (
    <p class="edit-ablation">
      {known && <a href={pageOf(known.job.job_id)}>{known.job.status}</a>}
      <ConfirmButton
        label="Without this line"
        title="Evaluate without this line"
        answers={['Start', 'Cancel']}
        run={async () => {
          await startAblation(request);
          await onStarted();
        }}
      >
        <p>
          The prompt runs {edit.kind === 'changed' ? 'with this line as it was' : 'without this line'} on the{' '}
          {ablation.rows} {basisWords[ablation.basis]} rows on which the full prompt has its rewards. Then the two are
          compared row by row.
        </p>
        {ablation.basis === 'evaluation' && (
          <p class="note">These rows selected the full prompt, so the comparison favours it.</p>
        )}
        <Price request={request} />
      </ConfirmButton>
    </p>
  );
}

const basisWords = { heldout: 'held-out', evaluation: 'evaluation' } as const;

function Price({ request }: { request: Parameters<typeof ablationPrice>[0] }) {
  const key = `price ${request.candidateId} ${request.againstId} ${editKey(request.edit)}`;
  const { data, error } = useResource(key, (signal) => ablationPrice(request, signal));
  if (!data) return error ? <Problem error={error} /> : <Loading />;
  const { rollouts, cost_usd: cost } = data.estimate;
  return (
    <p>
      {rollouts} rollouts,{' '}
      {cost === null ? (
        'of unknown price'
      ) : (
        <>
          about <strong>{dollars(cost.likely)}</strong>, {dollars(cost.low)} to {dollars(cost.high)}
        </>
      )}
    </p>
  );
}

function AblationResult({ ablation: { job, comparison }, candidateId }: { ablation: Ablation; candidateId: string }) {
  const page = <a href={pageOf(job.job_id)}>evaluation without it</a>;
  if (isActive(job.status))
    return (
      <p class="edit-ablation" role="status">
        {page}: {job.progress.completed} of {job.progress.total} rows
      </p>
    );
  if (comparison === null) return <p class="edit-ablation">{page}: no row in common</p>;
  return (
    <p class="edit-ablation">
      <span>{ablationWords(comparison)}</span>{' '}
      <a href={link(['compare'], { a: job.job_id, b: candidateId })}>compare</a> {page}
    </p>
  );
}

/** `Without it −0.120 (95 %: −0.200 to −0.040) on 40 held-out rows: it helps` */
export function ablationWords({
  difference: { mean, low, high },
  seeds_compared: rows,
  basis,
  verdict,
}: NonNullable<Ablation['comparison']>): string {
  const said = { better: 'it helps', worse: 'it hurts', inconclusive: 'not shown to help' }[verdict];
  const interval = `95 %: ${signed(-high)} to ${signed(-low)}`;
  const where = `${rows} ${basisWords[basis]} ${rows === 1 ? 'row' : 'rows'}`;
  return `Without it ${signed(-mean)} (${interval}) on ${where}: ${said}`;
}
