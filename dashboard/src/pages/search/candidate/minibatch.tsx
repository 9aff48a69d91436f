import { reward } from '../../../util/format.js';
import { here } from '../../../util/router.js';
import { Badge } from '../../../ui/basics.js';
import { numberOf, type CandidateDetail } from '../../../data/search.js';
import { resultOf, roles, tally, type Tested } from './tested.js';
import { numbers, Table } from '../../../ui/table.js';

/** The rows on which a candidate was tested against its parent. */
export function Minibatch({ candidate: { minibatch } }: { candidate: CandidateDetail }) {
  if (minibatch.length === 0) return null;
  return (
    <section class="part" aria-label="Test against the parent">
      <header class="panel-head">
        <h3>Test against the parent</h3>
        <span class="quiet">{tally(minibatch)}</span>
      </header>
      <Table label="Tested rows" heads={[numbers('Row'), 'Why', numbers('Parent'), numbers('Candidate'), 'Result']}>
        {minibatch.map((tested, n) => (
          <TestedRow key={n} tested={tested} />
        ))}
      </Table>
    </section>
  );
}

function TestedRow({ tested }: { tested: Tested }) {
  const { parent_rollout_id: before, parent_candidate_id: parent } = tested;
  return (
    <tr>
      <td class="number">{tested.seed ?? '–'}</td>
      <td>{roles[tested.role]}</td>
      <td class="number">
        {before === null ? (
          reward(tested.parent_reward)
        ) : (
          <a href={here({ trace: before })}>{reward(tested.parent_reward)}</a>
        )}
        {parent !== null && <span class="quiet"> {numberOf(parent)}</span>}
      </td>
      <td class="number">
        {tested.candidate_rollouts.length === 0 && '–'}
        {tested.candidate_rollouts.map((rollout) => (
          <a key={rollout.rollout_id} class="spaced" href={here({ trace: rollout.rollout_id })}>
            {reward(rollout.reward)}
          </a>
        ))}
      </td>
      <td>
        <Badge status={resultOf(tested)} />
      </td>
    </tr>
  );
}
