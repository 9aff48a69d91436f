import type { Run } from '../../data/run-types.js';
import { isActive } from '../../data/job.js';
import { count, shortId, signed } from '../../util/format.js';
import { here } from '../../util/router.js';
import { gainOf, type Scale } from './scale.js';

const [width, height, edge] = [160, 22, 6];

/** The gain of a run as an interval beside zero, on the axis of its list. */
export function GainCell({ run, scale }: { run: Run; scale: Scale | null }) {
  const gain = gainOf(run);
  if (!gain) return <td class="gain quiet">{isActive(run.status) ? <Progress run={run} /> : '–'}</td>;
  const { value, low, high, isHeldOut } = gain;
  const isOnScale = scale !== null && run.comparable_key === scale.key;
  const text = `${signed(value)}, 95 % interval ${signed(low)} to ${signed(high)}${isHeldOut ? '' : ', not on held-out rows'}`;
  const tone = low > 0 ? 'good' : high < 0 ? 'bad' : 'quiet';
  return (
    <td class="gain" title={text}>
      <span class={`gain-value ${tone}`}>
        {signed(value)}
        {!isHeldOut && <abbr title="On rows that chose the winner: biased upward">*</abbr>}
      </span>
      {isOnScale ? (
        <Bar gain={gain} scale={scale} label={text} tone={tone} />
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

function Bar(props: { gain: { value: number; low: number; high: number }; scale: Scale; label: string; tone: string }) {
  const { gain, scale, label, tone } = props;
  const at = (x: number) => width / 2 + (Math.max(-1, Math.min(1, x / scale.reach)) * (width - 2 * edge)) / 2;
  return (
    <svg class={`gain-bar interval ${tone}`} width={width} height={height} role="img" aria-label={label}>
      <line class="interval-zero" x1={width / 2} x2={width / 2} y1="2" y2={height - 2} />
      <line class="interval-range" x1={at(gain.low)} x2={at(gain.high)} y1={height / 2} y2={height / 2} />
      <circle cx={at(gain.value)} cy={height / 2} r="4" />
    </svg>
  );
}
