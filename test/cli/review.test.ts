import { expect, test } from '@jest/globals';
import { reviewsOf } from '../../src/cli/runs/review.js';

const head = 'job_id,subject_id,row,verdict,note,corrected';
const review = { jobId: 'ses_1', subjectId: 'rol_1', verdict: 'wrong', note: null, corrected: null };

test('lines of a file that say something are reviews, with any delimiter of a spreadsheet', () => {
  expect(reviewsOf('a.csv', `${head}\nses_1,rol_1,0,wrong,,\nses_1,rol_2,1,,,\nses_1,rol_3,2,,"x, y",b\n`)).toEqual([
    review,
    { ...review, subjectId: 'rol_3', verdict: null, note: 'x, y', corrected: 'b' },
  ]);
  expect(reviewsOf('a.csv', `\ufeff${head.replaceAll(',', ';')}\r\nses_1;rol_1;0;wrong;;\r\n`)).toEqual([review]);
});

test.each([
  [`${head}\nses_1,rol_1,0,fine,,`, /row 2: verdict .*"fine"/],
  [`${head}\nses_1,rol_1,0,,,\nses_1,,0,wrong,,`, /row 3: job_id and subject_id/],
])('%j is refused with its row', (text, message) => {
  expect(() => reviewsOf('a.csv', text)).toThrow(message);
});
