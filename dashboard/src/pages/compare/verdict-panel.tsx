import { jobKinds } from '../../../../src/core/jobs/kinds.js';
import { kindOfJob } from '../../data/kinds.js';
import { count, dollars, milliseconds, reward, shortId, signed } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { Badge, Panel } from '../../ui/basics.js';
import { IntervalBar, UnseenRows } from '../../ui/interval-bar.js';
import type { SideOf } from './sides.js';
import { hasInterval, verdictOf, type Comparison } from './verdict.js';

/** The paired difference as a picture and in words, and both sides in figures. */
export function VerdictPanel({ comparison }: { comparison: Comparison }) {
  const { a, b, difference, verdict, basis, seeds_compared: compared, seeds_in_common: common } = comparison;
  return (
    <Panel title="Verdict" aside={<Badge status={verdict} />}>
      <p class="verdict">{verdictOf(comparison)}</p>
      {hasInterval(comparison) ? (
        <IntervalBar label="B minus A" value={difference.mean} low={difference.low} high={difference.high} />
      ) : (
        <p class="quiet">Difference {signed(difference.mean)}. So few rows have no interval.</p>
      )}
      <p class="quiet">
        {basis === 'evaluation'
          ? 'A search selected on the compared rows, which favors its candidate.'
          : compared < common
            ? `${count(common - compared)} of ${count(common)} common rows are left out: a search selected on them.`
            : 'No search selected on the compared rows.'}
      </p>
      <div class="table-box" tabIndex={0} role="region" aria-label="Both sides">
        <table class="table">
          <thead>
            <tr>
              <th>Side</th>
              <th class="number">Mean reward</th>
              <th class="number">Rows</th>
              <th class="number">Failed</th>
              <th class="number">Cost per row</th>
              <th class="number">Mean latency</th>
              <th class="number">Median latency</th>
            </tr>
          </thead>
          <tbody>
            <SideLine letter="A" side={a} />
            <SideLine letter="B" side={b} />
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function SideLine({ letter, side }: { letter: string; side: SideOf }) {
  const candidate = jobKinds[kindOfJob(side.job_id)].isSearch ? side.candidate_id : null;
  return (
    <tr>
      <td class="short">
        <strong>{letter}</strong> <a href={pageOf(side.job_id, { candidate })}>{shortId(side.id)}</a>{' '}
        <span class="quiet">{side.kind}</span>
      </td>
      <td class="number">
        {reward(side.mean_reward)} <UnseenRows interval={side.mean_reward_interval} />
      </td>
      <td class="number">{count(side.seeds)}</td>
      <td class="number">{count(side.seeds_failed)}</td>
      <td class="number">{dollars(side.cost_usd)}</td>
      <td class="number">{milliseconds(side.latency_ms?.mean)}</td>
      <td class="number">{milliseconds(side.latency_ms?.p50)}</td>
    </tr>
  );
}
