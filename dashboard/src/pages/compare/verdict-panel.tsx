import { sentenceOf } from '../../../../src/core/comparisons/words.js';
import { signed } from '../../../../src/core/math/words.js';
import { count, dollars, milliseconds, reward, shortId } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { jobKinds } from '../../../../src/core/jobs/kinds.js';
import { kindOfJob } from '../../data/kinds.js';
import { Badge, Panel } from '../../ui/basics.js';
import { Fold } from '../../ui/fold.js';
import { AxisBar, UnseenRows } from '../../ui/charts/interval-bar.js';
import { rowsNeededWords } from '../search/verdict.js';
import { letterOf } from './address.js';
import { reachOf, timesSpread, toneOfVerdict, type Column, type Many } from './types.js';
import { numbers, roomy, Table } from '../../ui/table.js';

/** Who is better as a sentence, and every column beside the baseline on one axis. */
export function VerdictPanel({ many }: { many: Many }) {
  const { columns, baseline } = many;
  const ids = columns.map(({ id }) => id);
  const named = columns.flatMap(({ id, against_baseline: pair }) => {
    if (!pair) return [];
    return [{ name: letterOf(ids, id), verdict: pair.verdict, ...pair.difference, rows: pair.seeds_compared }];
  });
  const reach = reachOf(columns);
  const pinned = letterOf(ids, baseline);
  const apart = ids.filter((id, at) => id !== baseline && !columns[at]!.against_baseline);
  return (
    <Panel title="Verdict">
      <p class="verdict">
        {named.length > 0 && sentenceOf(pinned, named)}
        {apart.length > 0 &&
          ` ${apartWords(
            apart.map((id) => letterOf(ids, id)),
            pinned,
          )}`}
      </p>
      <Table
        label="Columns beside the baseline"
        heads={[
          'Column',
          roomy('Verdict'),
          { name: 'Difference', title: 'Minus the baseline, row by row, with the 95 % interval; all on one axis' },
          roomy(numbers('p', 'Corrected for the number of comparisons by the method of Holm')),
          roomy(numbers('Rows')),
          roomy(numbers('Won')),
          roomy(numbers('Lost')),
          roomy(numbers('Equal')),
          numbers('Mean reward'),
          roomy(numbers('Cost per row')),
          roomy(numbers('Latency')),
          roomy(numbers('Prompt', 'Length of the prompt in estimated tokens')),
        ]}
        class="compare-table compare-grid"
      >
        {columns.map((column) => (
          <Line key={column.id} column={column} letter={letterOf(ids, column.id)} many={many} reach={reach} />
        ))}
      </Table>
      <Notes many={many} />
      {columns.length > 2 && many.pairs.length > 0 && <Fold summary="Every pair">{() => <Pairs many={many} />}</Fold>}
    </Panel>
  );
}

/** Of columns that are not compared, by their letters. */
function apartWords(letters: readonly string[], baseline: string): string {
  const has = letters.length === 1 ? 'has' : 'have';
  return `${letters.join(', ')} ${has} no row in common with ${baseline}: pin another column, or run both on the same rows.`;
}

function Line(props: { column: Column; letter: string; many: Many; reach: number }) {
  const { column, letter, many, reach } = props;
  const { against_baseline: pair } = column;
  const isBaseline = column.id === many.baseline;
  const apart = isBaseline ? 'baseline' : <span class="quiet">no row in common</span>;
  const verdict = pair ? <Badge status={pair.verdict} /> : apart;
  return (
    <tr class={isBaseline ? 'compare-baseline' : ''}>
      <td>
        <Name column={column} letter={letter} />
      </td>
      <td class="short on-roomy">{verdict}</td>
      <td class="short">
        <div class="on-narrow">{verdict}</div>
        {pair && <Difference column={column} letter={letter} reach={reach} />}
      </td>
      <td class="number on-roomy">{pair ? shownP(pair.p_corrected) : ''}</td>
      <td class="number on-roomy" title={pair ? `${count(pair.seeds_in_common)} in common` : undefined}>
        {pair ? count(pair.seeds_compared) : ''}
      </td>
      <td class="number on-roomy">{pair && count(pair.won)}</td>
      <td class="number on-roomy">{pair && count(pair.lost)}</td>
      <td class="number on-roomy">{pair && count(pair.tied)}</td>
      <td class="number">
        {reward(column.mean_reward)} <UnseenRows interval={column.mean_reward_interval} />
        {column.seeds_failed > 0 && <div class="bad">{count(column.seeds_failed)} failed</div>}
      </td>
      <td class="number on-roomy">{dollars(column.cost_usd)}</td>
      <td class="number on-roomy">{milliseconds(column.latency_ms?.mean)}</td>
      <td class="number on-roomy">{count(column.prompt_tokens)}</td>
    </tr>
  );
}

const shownP = (p: number): string => (p < 0.001 ? '<0.001' : p.toFixed(3));

function Name({ column: { id, kind, name, job_id, candidate_id }, letter }: { column: Column; letter: string }) {
  const candidate = jobKinds[kindOfJob(job_id)].isSearch ? candidate_id : null;
  return (
    <>
      <strong>{letter}</strong>{' '}
      <a dir="auto" href={pageOf(job_id, { candidate })}>
        {name ?? shortId(id)}
      </a>
      <div class="quiet short on-roomy">
        {kind} {shortId(id)}
      </div>
    </>
  );
}

function Difference({ column, letter, reach }: { column: Column; letter: string; reach: number }) {
  const pair = column.against_baseline!;
  const { mean: value, low, high } = pair.difference;
  const times = timesSpread(pair);
  const tone = toneOfVerdict(pair.verdict);
  return (
    <>
      <span class={`gain-value ${tone}`}>{signed(value)}</span>
      <AxisBar
        gain={{ value, low, high }}
        reach={reach}
        tone={tone}
        label={`${letter}: ${signed(value)}, 95 % interval ${signed(low)} to ${signed(high)}`}
      />
      <div class="quiet">
        {signed(low)} to {signed(high)}
        {times !== null && `, ${times.toFixed(1)} times the spread of the search`}
      </div>
    </>
  );
}

/** Whether no search wrote the prompt: it is the first one of its search. */
const isUntouched = ({ candidate_id: id }: Column): boolean => id?.endsWith('_0') ?? false;

/** What a reader must know of the rows and of the searches. */
function Notes({ many: { columns, groups } }: { many: Many }) {
  const ids = columns.map(({ id }) => id);
  const letters = (of: readonly string[]) => of.map((id) => letterOf(ids, id)).join(', ');
  const withPair = columns.flatMap(({ id, against_baseline: pair }) => (pair ? [{ id, ...pair }] : []));
  const biased = columns.filter((column) => column.seeds_selected > 0 && !isUntouched(column)).map(({ id }) => id);
  const cut = withPair.filter((pair) => pair.seeds_compared < pair.seeds_in_common).map(({ id }) => id);
  const alone = withPair
    .filter(({ verdict, difference: { low, high } }) => verdict === 'inconclusive' && (low > 0 || high < 0))
    .map(({ id }) => id);
  const sizes = withPair.map(({ seeds_compared: rows }) => rows);
  const isUneven = new Set(sizes).size > 1;
  const undecided = withPair.filter(({ rows_needed: needed }) => needed !== null);
  return (
    <ul class="notes">
      {groups.map(({ ids: of, rng_seeds: seeds, spread, difference }) => (
        <li key={of.join()}>
          {letters(of)} are one request with {count(seeds)} values of <code>rng_seed</code>.{' '}
          {spread === null
            ? 'Three would show how much the search itself varies.'
            : `The search itself varies by ±${spread.toFixed(3)}${difference === null || spread === 0 ? '.' : `; their mean gain of ${signed(difference)} is ${(Math.abs(difference) / spread).toFixed(1)} times that.`}`}
        </li>
      ))}
      {isUneven && (
        <li>
          Each column is compared on the rows that it shares with the baseline:{' '}
          {withPair.map(({ id, seeds_compared: rows }) => `${letterOf(ids, id)} on ${count(rows)}`).join(', ')}. To
          compare two of them, read their own pair.
        </li>
      )}
      {biased.length > 0 && (
        <li>{letters(biased)}: its own search selected on the compared rows, which favors its candidate.</li>
      )}
      {cut.length > 0 && <li>{letters(cut)}: common rows on which a search selected are left out.</li>}
      {alone.length > 0 && (
        <li>
          {letters(alone)}: the interval alone excludes 0, but among {count(withPair.length)} comparisons chance may
          explain that.
        </li>
      )}
      {undecided.map(({ id, rows_needed: needed }) => (
        <li key={id}>
          {letterOf(ids, id)}:{rowsNeededWords(needed)}
        </li>
      ))}
    </ul>
  );
}

/** Each column minus each other. */
function Pairs({ many: { columns, pairs } }: { many: Many }) {
  const ids = columns.map(({ id }) => id);
  const cell = (row: string, other: string) => {
    const pair = pairs.find(({ a, b }) => (a === other && b === row) || (a === row && b === other));
    if (!pair) return <td class="number quiet">–</td>;
    const value = pair.b === row ? pair.difference.mean : -pair.difference.mean;
    const tone = pair.verdict === 'inconclusive' ? 'quiet' : value > 0 ? 'good' : 'bad';
    return (
      <td class={`number ${tone}`} title={`${count(pair.seeds_compared)} rows, p ${shownP(pair.p_corrected)}`}>
        {signed(value)}
      </td>
    );
  };
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Every pair">
      <table class="table compare-grid compare-pairs">
        <caption class="quiet">Row minus column; gray is not shown to differ, with all pairs counted.</caption>
        <thead>
          <tr>
            <td></td>
            {ids.map((id) => (
              <th key={id} scope="col" class="number">
                {letterOf(ids, id)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ids.map((row) => (
            <tr key={row}>
              <th scope="row">{letterOf(ids, row)}</th>
              {ids.map((other) => (row === other ? <td key={other}></td> : cell(row, other)))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
