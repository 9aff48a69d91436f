import { Html, markup } from './markup.js';
import { changes, costPart, definitions, measured, repetition, rowsPart } from './parts.js';
import type { Report } from './report.js';
import { style } from './style.js';

/** Nothing loads and nothing runs, wherever the file is opened. */
const policy = "default-src 'none'; style-src 'unsafe-inline'";

/** A report as one HTML file. */
export function reportDocument(report: Report): string {
  const { title, noun, jobId, status, createdAt, completedAt, version, notes } = report;
  const when = [`begun ${clock(createdAt)}`, ...(completedAt ? [`ended ${clock(completedAt)}`] : [])].join(', ');
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="content-security-policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="generator" content="Ratchet ${version}" />
        <title>${title}: report</title>
        <style>${new Html(style)}</style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p class="quiet">${noun} ${jobId}, ${status}, ${when}</p>
          ${notes && markup`<p>${notes}</p>`} ${lead(report)} ${measured(report)} ${changes(report)}
          ${rowsPart(report.rows)} ${definitions('Settings', report.settings)} ${costPart(report)} ${repetition(report)}
        </main>
      </body>
    </html>
`.text;
}

/** What happened, in a sentence and facts. */
function lead({ diagnosis, error, comparison }: Report): Html | null {
  if (!diagnosis) return error === null ? null : markup`<div class="lead worse"><p>${error}</p></div>`;
  const { sentence, facts } = diagnosis;
  const outcome = comparison && (comparison.interval.low > 0 ? 'better' : comparison.interval.high < 0 && 'worse');
  return markup`<div class="lead ${outcome}">
    <p><strong>${sentence}</strong></p>
    ${facts.length > 0 && markup`<ul>${facts.map((fact) => markup`<li>${fact}</li>`)}</ul>`}
  </div>`;
}

const clock = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
