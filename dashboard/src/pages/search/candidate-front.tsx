import { numberOf } from '../../data/search.js';
import { Tag } from '../../ui/basics.js';
import { here } from '../../util/router.js';
import { numbers, Table } from '../../ui/table.js';

/** A table of candidates, each linked, with numbers by the title of their column. */
export function CandidateFront<Candidate extends { candidate_id: string }>(props: {
  label: string;
  candidates: readonly Candidate[];
  bestId: string | null;
  columns: Readonly<Record<string, (candidate: Candidate) => string>>;
}) {
  const { label, candidates, bestId, columns } = props;
  return (
    <Table label={label} heads={['Candidate', ...Object.keys(columns).map((title) => numbers(title))]}>
      {candidates.map((each) => (
        <tr key={each.candidate_id}>
          <td>
            <a class="row-link" href={here({ candidate: each.candidate_id })}>
              {numberOf(each.candidate_id)}
            </a>{' '}
            {each.candidate_id === bestId && <Tag>best</Tag>}
          </td>
          {Object.entries(columns).map(([title, textOf]) => (
            <td key={title} class="number">
              {textOf(each)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
