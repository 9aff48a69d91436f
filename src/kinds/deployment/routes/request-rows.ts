/** Rows of a data set from requests. */
import { answerOf, inputOf } from '../../../core/deployments/request-texts.js';
import { uploadLimits } from '../../../datasets/contract/dataset.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import type { StoredRequest } from '../store/logged-requests.js';

type Expected = 'corrected' | 'corrected_or_answer' | 'reviewed';

interface LinesOptions {
  expected: Expected;
  limit: number;
  /** Whether rows without an expected value are passed over. */
  isExpectedNeeded?: boolean;
  /** Counted while the lines are read. */
  count: { rows: number; bytes: number; leftOut: number };
  maxBytes?: number;
}

/** The lines of a data set. Throws if there are none, or if they do not fit into one data set. */
export async function* datasetLines(
  requests: AsyncIterable<StoredRequest>,
  { expected, limit, isExpectedNeeded = expected === 'reviewed', count, maxBytes = uploadLimits.bytes }: LinesOptions,
): AsyncGenerator<Buffer> {
  for await (const logged of requests) {
    const row = rowOf(logged, expected);
    if (isExpectedNeeded && row && !('expected' in row)) continue;
    const line = row && JSON.stringify(row);
    if (line === null || line.length > uploadLimits.rowChars) count.leftOut += 1;
    else {
      const bytes = Buffer.from(`${line}\n`);
      count.bytes += bytes.length;
      if (count.bytes > maxBytes) throw tooMany(count.rows, maxBytes);
      count.rows += 1;
      yield bytes;
    }
    if (count.rows === limit) return;
  }
  if (count.rows === 0) throw noRows(count.leftOut);
}

function tooMany(rows: number, maxBytes: number): ApiError {
  const most = `more than the ${maxBytes / 1024 / 1024} MiB of a data set`;
  const message = `takes ${most}: the latest ${rows} rows fit. Set limit to at most ${rows}, or narrow the filter, for example by from and to`;
  return refuse.invalid([{ pointer: '/limit', message }]);
}

function noRows(leftOut: number): ApiError {
  const why =
    leftOut === 0 ? 'No request with kept texts passes.' : `None of the ${leftOut} requests that pass can be a row.`;
  return new ApiError(404, 'no_requests', why);
}

/** The row of a request; null: its messages are no text, or its text was not kept. */
function rowOf(
  { answerId, outcome, request, answer, reward, corrected, isRight: isCalledRight }: StoredRequest,
  expected: Expected,
): Record<string, unknown> | null {
  const input = request === null ? null : inputOf(JSON.parse(request) as Record<string, unknown>);
  if (input === null) return null;
  const { text: said, isWhole } = answerOf(answer === null ? {} : (JSON.parse(answer) as Record<string, unknown>));
  const isRight =
    expected === 'reviewed' ? isCalledRight : expected === 'corrected_or_answer' && outcome === 'ok' && isWhole;
  const right = corrected ?? (isRight ? said : null);
  return {
    input,
    ...(right !== null && { expected: right }),
    ...(said !== null && { answer: said }),
    ...(reward !== null && { reward: Number(reward) }),
    answer_id: answerId,
  };
}
