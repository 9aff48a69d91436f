import { numberOf } from '../../data/search.js';
import { Tag } from '../../ui/basics.js';
import { here } from '../../util/router.js';

/** A table of candidates, each linked, with numbers by the title of their column. */
export function CandidateFront<Candidate extends { candidate_id: string }>(props: {
  label: string;
  candidates: readonly Candidate[];
  bestId: string | null;
  columns: Readonly<Record<string, (candidate: Candidate) => string>>;
}) {
  const { label, candidates, bestId, columns } = props;
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            <th>Candidate</th>
            {Object.keys(columns).map((title) => (
              <th key={title} class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}
