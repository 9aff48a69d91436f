import type { Run } from '../../data/run-types.js';
import { isActive } from '../../data/job.js';
import { signed } from '../../../../src/core/math/words.js';
import { count, shortId } from '../../util/format.js';
import { here } from '../../util/router.js';
import { AxisBar, toneOf } from '../../ui/charts/interval-bar.js';
import { gainOf, type Scale } from './scale.js';

/** The gain of a run as an interval beside zero, on the axis of its list. */
export function GainCell({ run, scale }: { run: Run; scale: Scale | null }) {
  const gain = gainOf(run);
  if (!gain) return <td class="gain quiet">{isActive(run.status) ? <Progress run={run} /> : '–'}</td>;
  const { value, low, high, isHeldOut } = gain;
  const isOnScale = scale !== null && run.comparable_key === scale.key;
  const text = `${signed(value)}, 95 % interval ${signed(low)} to ${signed(high)}${isHeldOut ? '' : ', not on held-out rows'}`;
  const tone = toneOf(gain);
  return (
    <td class="gain" title={text}>
      <span class={`gain-value ${tone}`}>
        {signed(value)}
        {!isHeldOut && <abbr title="On rows that chose the winner: biased upward">*</abbr>}
      </span>
      {isOnScale ? (
        <AxisBar gain={gain} reach={scale.reach} label={text} tone={tone} />
      ) : run.comparable_key === null ? (
        <span class="gain-other quiet">not comparable</span>
      ) : (
        <a
          class="gain-other"
          href={here({ scale: run.comparable_key })}
          title="Other rows or another scorer: show these"
        >
          not comparable
        </a>
      )}
    </td>
  );
}

function Progress({ run: { progress, name, job_id: id } }: { run: Run }) {
  const { done, total } = progress;
  return (
    <>
      <progress
        aria-label={`Progress of ${name ?? shortId(id)}`}
        {...(total !== null && { value: done, max: total })}
      />
      {count(done)}
      {total !== null && ` / ${count(total)}`}
    </>
  );
}
