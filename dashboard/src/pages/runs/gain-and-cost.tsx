import type { Run } from '../../data/run-types.js';
import { signed } from '../../../../src/core/math/words.js';
import { dollars, shortId } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { Panel } from '../../ui/basics.js';
import { frontOf, Scatter, type ScatterPoint } from '../../ui/charts/scatter.js';
import { gainOf, scaleOf } from './scale.js';

/** What the gains of comparable runs cost, the best front marked; nothing for fewer than two. */
export function GainAndCost({ runs, wanted }: { runs: readonly Run[]; wanted: string | null }) {
  const scale = scaleOf(runs, wanted);
  const found = scale ? pointsOf(runs.filter((run) => run.comparable_key === scale.key)) : [];
  if (found.length < 2) return null;
  const front = frontOf(found);
  const isEqual = (a: ScatterPoint, b: ScatterPoint) => a.cost === b.cost && a.worth === b.worth;
  // Equal points are on the front together, under one name.
  const points = found.map((point) => ({
    ...point,
    isFront: front.some((best) => isEqual(best, point)),
    name: front.includes(point) ? point.name : '',
  }));
  const gains = points.map(({ worth }) => worth);
  const [least, most] = [Math.min(0, ...gains), Math.max(0, ...gains)];
  const room = (most - least || 0.1) * 0.1;
  return (
    <Panel title="Gain and cost" aside={<span class="quiet">runs on the axis above</span>}>
      <Scatter
        label="Gain and cost of comparable runs"
        points={points}
        line={frontOf(points)}
        range={[least - room, most + room]}
        axis="Cost of the run"
        worthText={signed}
        costText={(cost) => dollars(Math.max(0, cost))}
      />
    </Panel>
  );
}

/** The runs whose gain and cost are known, the cheapest first. */
function pointsOf(runs: readonly Run[]): ScatterPoint[] {
  const points = runs.flatMap((run) => {
    const gain = gainOf(run);
    const { job_id: id, total_cost_usd: cost } = run;
    if (!gain || cost === null) return [];
    const name = run.name ?? shortId(id);
    const label = `${name}, gain ${signed(gain.value)}, ${dollars(cost)}`;
    return [{ id, cost, worth: gain.value, isFront: false, href: pageOf(id), label, name }];
  });
  return points.sort((a, b) => a.cost - b.cost || b.worth - a.worth);
}
