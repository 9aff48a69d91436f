import { expect, test } from '@jest/globals';
import { csvOf } from '../../src/cli/commands/rows.js';
import { reviewsOf } from '../../src/cli/runs/review.js';

const head = 'job_id,subject_id,row,verdict,note,corrected';
const review = { jobId: 'ses_1', subjectId: 'rol_1', verdict: 'wrong', note: null, corrected: null };
const read = (text: string | Buffer) => reviewsOf('a.csv', Buffer.from(text));

test('lines of a file that say something are reviews', async () => {
  const lines = `${head}\nses_1,rol_1,0,wrong,,\nses_1,rol_2,1,,,\nses_1,rol_3,2,,"x, y",b\n`;
  expect(await read(lines)).toEqual([
    review,
    { ...review, subjectId: 'rol_3', verdict: null, note: 'x, y', corrected: 'b' },
  ]);
});

const item = {
  job_id: 'ses_1',
  subject_id: 'rol_1',
  input: '=1+1, "so"; é',
  verdict: 'Bad Expected',
  note: '',
  corrected: 'ü',
};
const meant = { ...review, verdict: 'bad_expected', corrected: 'ü' };

// What programs write of an exported file: commas bare between semicolons, columns moved, UTF-16.
test.each<[string, string | Buffer]>([
  ['as it was', csvOf([item])],
  [
    'Excel with semicolons',
    `\ufeffsep=;\r\njob_id;subject_id;input;verdict;note;corrected\r\nses_1;rol_1;Hello, world, again;Bad expected;;ü\r\n`,
  ],
  [
    'LibreOffice with moved columns',
    'verdict;corrected;input;job_id;subject_id\n"BAD_EXPECTED ";"ü";"a\nb, c";ses_1;rol_1\n',
  ],
  [
    'text in Unicode',
    Buffer.from(
      '\ufeffsubject_id\tjob_id\tinput\tverdict\tcorrected\r\nrol_1\tses_1\tx, y\tbad_expected\tü\r\n',
      'utf16le',
    ),
  ],
  ['pandas with its index', ',job_id,subject_id,input,verdict,note,corrected\n0,ses_1,rol_1,"a, b",bad_expected,,ü\n'],
])('a file of %s is read', async (_, text) => {
  expect(await read(text)).toEqual([meant]);
});

test.each<[string | Buffer, RegExp]>([
  [`${head}\nses_1,rol_1,0,fine,,`, /line 2: verdict .*"fine"/],
  [`${head}\nses_1,rol_1,0,,,\nses_1,,0,wrong,,`, /line 3: job_id and subject_id/],
  [Buffer.from(`${head}\nses_1,rol_1,0,wrong,,ü\n`, 'latin1'), /line 2 .*UTF-8/],
])('%j is refused with its line', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});
