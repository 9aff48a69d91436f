/** Parts of a report. */
import { signed } from '../../core/math/words.js';
import type { Interval } from '../../core/math/mean-interval.js';
import { markedText, type MarkedSentence } from '../../core/prompts/changes/marked.js';
import type { RowGroup } from '../../core/rows/groups.js';
import { markup, type Html } from './markup.js';
import type { Report, ReportRows } from './report.js';

const decimal = (value: number): string => value.toFixed(3);

/** The reward beside the baseline, and the gain with its interval. */
export function measured({ comparison, reward }: Report): Html | null {
  if (!reward) return null;
  const { name, mean, interval, baseline } = reward;
  return markup`<h2>Measured</h2>
    <p>
      <strong>${decimal(mean)}</strong> ${name}${interval && `, 95 % ${range(interval, decimal)}`}.
      ${baseline !== null && `Baseline ${decimal(baseline)}.`}
    </p>
    ${comparison && gain(comparison)}`;
}

function gain({ basis, difference, interval }: NonNullable<Report['comparison']>): Html {
  const flattered = basis === 'evaluation' && ' These rows chose the winner, so the gain is too high.';
  return markup`<p>Difference ${signed(difference)}, 95 % ${range(interval, signed)}.${flattered}</p>
    ${intervalBar(difference, interval)}`;
}

const range = ({ low, high }: Interval, text: (value: number) => string): string => `${text(low)} to ${text(high)}`;

/** A difference with its interval on an axis around 0. */
function intervalBar(difference: number, { low, high }: { low: number; high: number }): Html {
  const reach = 1.1 * Math.max(Math.abs(low), Math.abs(high), 0.05);
  const at = (value: number) => (300 + (280 * value) / reach).toFixed(1);
  const label = `${signed(difference)}, ${signed(low)} to ${signed(high)}`;
  return markup`<svg viewBox="0 0 600 52" role="img" aria-label="${label}">
    <line x1="20" x2="580" y1="18" y2="18" stroke="var(--line)" />
    <line x1="300" x2="300" y1="4" y2="32" stroke="var(--quiet)" />
    <line x1="${at(low)}" x2="${at(high)}" y1="18" y2="18" stroke="currentColor" stroke-width="4" />
    <circle cx="${at(difference)}" cy="18" r="6" fill="currentColor" />
    <text x="300" y="48" text-anchor="middle" font-size="13" fill="var(--quiet)">0</text>
  </svg>`;
}

/** What changed in the text, or the text alone. */
export function changes({ texts }: Report): Html | null {
  if (!texts) return null;
  const { before, after } = texts;
  if (before === null) return markup`<h2>Prompt</h2><pre>${after}</pre>`;
  return markup`<h2>What changed</h2>
    <pre>${markedText(before, after).map(marked)}</pre>
    <details>
      <summary>The new text</summary>
      <pre>${after}</pre>
    </details>`;
}

function marked({ kind, space, text, words }: MarkedSentence): Html {
  if (words) return markup`${space}${words.map((piece) => tagged(piece.kind, piece.text))}`;
  return markup`${space}${tagged(kind, text)}`;
}

function tagged(kind: MarkedSentence['kind'], text: string): Html {
  if (kind === 'added') return markup`<ins>${text}</ins>`;
  if (kind === 'removed') return markup`<del>${text}</del>`;
  return kind === 'moved' ? markup`<u title="moved">${text}</u>` : markup`${text}`;
}

const groupNames: Record<RowGroup, string> = {
  failing: 'wrong',
  broken: 'broken',
  flaky: 'right on some tries',
  failed: 'failed to run',
  fixed: 'fixed',
  right: 'right',
  untried: 'not tried',
};

export function rowsPart({ counts, shown, total, hasBaseline }: ReportRows): Html {
  return markup`<h2>Rows</h2>
    <p>${counts.map(([group, count]) => `${groupNames[group]}: ${count}`).join(' · ') || 'None has an answer.'}</p>
    ${hasBaseline && shown.length > 0 && markup`<p class="quiet">Broken: right before the change.</p>`}
    ${
      shown.length > 0 &&
      markup`<div class="scroll" tabindex="0" role="region" aria-label="Rows">
      <table>
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Text</th>
            <th scope="col">Expected</th>
            ${hasBaseline && markup`<th scope="col">Before</th>`}
            <th scope="col">Answer</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (row) =>
              markup`<tr><td>${row.row}${row.isHeldOut && ' (held-out)'}</td><td>${row.input}</td><td>${row.expected}</td>${hasBaseline && markup`<td>${row.baseline}</td>`}<td>${row.answer}</td><td>${[groupNames[row.group], row.feedback].filter(Boolean).join('\n')}</td></tr>`,
          )}
        </tbody>
      </table>
    </div>`
    }
    ${total > shown.length && markup`<p class="quiet">The first ${shown.length} of ${total} such rows.</p>`}`;
}

export function costPart({ usage, rollouts }: Report): Html {
  const {
    total_cost_usd: cost,
    prompt_tokens: prompt,
    completion_tokens: completion,
    calls,
    cached_calls: cached,
  } = usage;
  const tokens = (value: number | null) => (value === null ? 'unknown' : value.toLocaleString('en'));
  return definitions('Cost', [
    ['Dollars', cost === null ? 'unknown' : `$${cost.toFixed(cost < 1 ? 6 : 2)}`],
    ['Answers', rollouts.toLocaleString('en')],
    ['Model calls', `${calls.toLocaleString('en')}, ${cached.toLocaleString('en')} of them from the answer cache`],
    ['Tokens', `${tokens(prompt)} in, ${tokens(completion)} out`],
  ]);
}

export function definitions(title: string, entries: Report['settings']): Html {
  return markup`<h2>${title}</h2>
    <dl>${entries.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Commands that run the job once more. */
export function repetition({ repetition: found, jobId }: Report): Html | null {
  if (!found) return null;
  const { path, request } = found;
  const command = (to: string, body: string) =>
    `curl -X POST "$RATCHET_URL${path}${to}" -H "authorization: Bearer $RATCHET_API_KEY"${body}`;
  const file = ` \\\n  -H 'content-type: application/json' -d @request.json`;
  return markup`<h2>Run it again</h2>
    <p>On the service that made it:</p>
    <pre>${command(`/${jobId}/clone`, '')}</pre>
    <p>On another one, which needs the data set and its keys:</p>
    <pre>${command('', file)}</pre>
    <details>
      <summary>request.json</summary>
      <pre>${JSON.stringify(request, null, 2)}</pre>
    </details>`;
}
