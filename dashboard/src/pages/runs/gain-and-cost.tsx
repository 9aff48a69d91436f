import type { Run } from '../../data/run-types.js';
import { counted, signed } from '../../../../src/core/math/words.js';
import { count, dollars, shortId } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { Panel } from '../../ui/basics.js';
import { frontOf, Scatter, type ScatterPoint } from '../../ui/charts/scatter.js';
import { gainOf, scaleOf } from './scale.js';

/** What the gains of comparable runs cost, the best front marked; nothing for fewer than two. */
export function GainAndCost({ runs, wanted }: { runs: readonly Run[]; wanted: string | null }) {
  const scale = scaleOf(runs, wanted);
  const known = scale ? runs.filter((run) => run.comparable_key === scale.key && run.total_cost_usd !== null) : [];
  // Free runs differ in their answers.
  const isFree = known.every(({ total_cost_usd: cost }) => cost === 0);
  const found = pointsOf(known, isFree);
  if (found.length < 2) return null;
  const front = frontOf(found);
  const isEqual = (a: ScatterPoint, b: ScatterPoint) => a.cost === b.cost && a.worth === b.worth;
  // Equal points are on the front together, under one name.
  const points = found.map((point) => {
    const isFront = front.some((best) => isEqual(best, point));
    if (!front.includes(point)) return { ...point, isFront, name: '' };
    const name = nameOf(point, found.filter((each) => isEqual(each, point)).length);
    return { ...point, isFront, name, label: `${name}, ${factsOf(point, isFree)}` };
  });
  const gains = points.map(({ worth }) => worth);
  const [least, most] = [Math.min(0, ...gains), Math.max(0, ...gains)];
  const room = (most - least || 0.1) * 0.1;
  return (
    <Panel
      title={isFree ? 'Gain and answers' : 'Gain and cost'}
      aside={<span class="quiet">runs on the axis above</span>}
    >
      <Scatter
        label={`Gain and ${isFree ? 'answers' : 'cost'} of comparable runs`}
        points={points}
        line={frontOf(points)}
        range={[least - room, most + room]}
        axis={isFree ? 'Answers of the run, which cost nothing' : 'Cost of the run'}
        worthText={signed}
        costText={(cost) => (isFree ? count(Math.max(0, Math.round(cost))) : dollars(Math.max(0, cost)))}
      />
    </Panel>
  );
}

const nameOf = ({ name }: ScatterPoint, equal: number): string => (equal > 1 ? `${name} and ${equal - 1} equal` : name);

const factsOf = ({ cost, worth }: Pick<ScatterPoint, 'cost' | 'worth'>, isFree: boolean): string =>
  `gain ${signed(worth)}, ${isFree ? counted(cost, 'answer') : dollars(cost)}`;

/** The runs with a gain and a cost, the cheapest first. `isFree`: their cost is in answers. */
function pointsOf(runs: readonly Run[], isFree: boolean): ScatterPoint[] {
  const points = runs.flatMap((run) => {
    const gain = gainOf(run);
    const { job_id: id } = run;
    const cost = isFree ? run.rollouts : run.total_cost_usd;
    if (!gain || cost === null) return [];
    const name = run.name ?? shortId(id);
    const place = { cost, worth: gain.value };
    return [{ id, ...place, isFront: false, href: pageOf(id), label: `${name}, ${factsOf(place, isFree)}`, name }];
  });
  return points.sort((a, b) => a.cost - b.cost || b.worth - a.worth);
}
