import { useEffect } from 'preact/hooks';
import { kindOfJob } from '../../data/kinds.js';
import type { Outputs } from '../../data/outputs.js';
import { reward, signed } from '../../util/format.js';
import { openTrace } from '../../ui/trace/from-address.js';
import type { Pair, SideRow } from './rows.js';
import type { Comparison } from './verdict.js';

const tones = { won: 'good', lost: 'bad', tied: 'quiet' };

/** A row on both sides with its answers; without texts, the feedback of a search. */
export function PairRow(props: {
  comparison: Comparison;
  pair: Pair;
  outputs: Outputs[];
  places: Map<string, number>[];
}) {
  const { comparison, pair, outputs, places } = props;
  const jobs = [comparison.a.job_id, comparison.b.job_id];
  const sides = [pair.a, pair.b];
  useEffect(() => {
    for (const [n, side] of sides.entries())
      if (kindOfJob(jobs[n]!) === 'evaluation') outputs[n]!.want(side.traceId, places[n]!.get(side.traceId)!);
  }, [pair, outputs]);
  for (const { version } of outputs) void version.value;
  const texts = sides.map((side, n) => outputs[n]!.of(side.traceId));
  const input = texts.find((each) => each?.input)?.input ?? pair.a.texts?.input ?? pair.b.texts?.input;
  return (
    <>
      <div role="rowheader" class="matrix-cell matrix-row-head">
        <span>
          <strong>{pair.seed}</strong>{' '}
          <span class={tones[pair.outcome]}>
            {signed(pair.difference)} {pair.outcome}
          </span>
        </span>
        <span class="matrix-text" dir="auto" title={input ?? ''}>
          {input}
        </span>
      </div>
      {sides.map((side, n) => (
        <SideCell
          key={n}
          name={n === 0 ? 'A' : 'B'}
          jobId={jobs[n]!}
          side={side}
          text={texts[n]?.output ?? side.texts?.answer ?? side.texts?.feedback ?? ''}
        />
      ))}
    </>
  );
}

function SideCell({ name, jobId, side, text }: { name: string; jobId: string; side: SideRow; text: string }) {
  const share = Math.min(1, Math.max(0, side.reward ?? 0));
  return (
    <div role="cell" class="matrix-cell">
      <button
        type="button"
        class="matrix-result"
        style={{ '--reward': `${Math.round(share * 100)}%` }}
        onClick={() => openTrace(jobId, side.traceId)}
      >
        <span class="visually-hidden">
          Trace of row {side.seed} in {name}:{' '}
        </span>
        <span class="matrix-text" dir="auto">
          {text}
        </span>
        <span class="matrix-figures">
          <span class="matrix-reward">{reward(side.reward)}</span>
        </span>
      </button>
    </div>
  );
}
