import { Panel } from '../../ui/basics.js';
import { IntervalBar } from '../../ui/charts/interval-bar.js';
import { isActive } from '../../data/job.js';
import type { Results, Status } from '../../data/search.js';
import {
  basisWords,
  evidence,
  isTold,
  judgeWords,
  noiseWords,
  rowsNeededWords,
  stoppedWords,
  verdictWords,
} from './verdict.js';

/** What the search has found, in words, and how far the numbers can be trusted. */
export function VerdictPanel({ status, results }: { status: Status; results: Results | undefined }) {
  if (!results) return null;
  const { comparison, noise_floor: noise, judge_agreement: agreement, stopped_by: stoppedBy } = results;
  const isBaseline = results.best_candidate?.is_baseline === true;
  return (
    <Panel title="Verdict">
      {comparison === null ? (
        <p class="quiet">
          {isActive(status)
            ? 'The winner is compared with the baseline at the end of the search.'
            : 'The search ended without a comparison of a winner with the baseline.'}
        </p>
      ) : (
        <>
          {!isTold(results) && <p class="verdict">{verdictWords(results)}</p>}
          {isTold(results) && !isBaseline && (
            <p class="verdict">
              Winner minus baseline: {evidence(comparison)}.{rowsNeededWords(comparison.rows_needed)}
            </p>
          )}
        </>
      )}
      {comparison?.basis === 'evaluation' && isBaseline && (
        <p class="quiet">
          Nothing was compared with the baseline, as it is the best. Held-out rows did not run: they stay unseen.
        </p>
      )}
      {comparison && !isBaseline && (
        <>
          <IntervalBar label="Winner minus baseline" value={comparison.difference} {...comparison.interval} />
          <p class="quiet">{basisWords(comparison.basis)}</p>
        </>
      )}
      <dl class="facts">
        {stoppedBy && <Fact name="End">{stoppedWords(stoppedBy)}</Fact>}
        {noise && <Fact name="Noise">{noiseWords(noise)}</Fact>}
        {agreement && <Fact name="Judge">{judgeWords(agreement)}</Fact>}
      </dl>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
