import type uPlot from 'uplot';
import { reward, words } from '../../util/format.js';
import { here } from '../../util/router.js';
import { nextInList, useRoving } from '../../ui/hooks/use-roving.js';
import { numberOf } from '../../data/search.js';
import type { Mark } from './curve.js';

/** Acceptances and full evaluations over the chart, each a link to its candidate; one tab stop. */
export function Marks(props: {
  plot: uPlot;
  marks: readonly Mark[];
  /** Changes with the scales, which the plot does not tell. */
  drawn: number;
}) {
  const { plot, marks } = props;
  const [x, y] = [plot.scales['x']!, plot.scales['y']!];
  const within = (value: number, { min, max }: uPlot.Scale) => value >= (min ?? value) && value <= (max ?? value);
  const shown = marks.filter((mark) => within(mark.x, x) && within(mark.reward, y));
  const ids = shown.map(idOf);
  const roving = useRoving(ids, nextInList(ids));
  const { left, top } = plot.bbox;
  return (
    <div class="chart-marks" role="group" aria-label="Candidates on the curve" onKeyDown={roving.onKeyDown}>
      {shown.map((mark) => (
        <a
          key={idOf(mark)}
          class={`chart-mark chart-mark-${mark.kind}`}
          href={here({ candidate: mark.candidateId })}
          title={textOf(mark)}
          aria-label={textOf(mark)}
          style={{
            left: `${left / devicePixelRatio + plot.valToPos(mark.x, 'x')}px`,
            top: `${top / devicePixelRatio + plot.valToPos(mark.reward, 'y')}px`,
          }}
          {...roving.part(idOf(mark))}
        />
      ))}
    </div>
  );
}

const idOf = ({ candidateId, kind }: Mark): string => `${kind} ${candidateId}`;

const textOf = ({ candidateId, kind, reward: value }: Mark): string =>
  `Candidate ${numberOf(candidateId)} ${words(kind)}: ${kind === 'accepted' ? 'estimated ' : ''}${reward(value)}`;
