import { expect, test } from '@jest/globals';
import { csvText } from '../../src/util/csv.js';

test('cells are quoted where a spreadsheet would end them, and values keep their form', () => {
  expect(
    csvText([
      ['a', 1, null, undefined, ['x']],
      ['x, "y"\nz', 'a;b', true, '', 0],
    ]),
  ).toBe('a,1,,,"[""x""]"\r\n"x, ""y""\nz","a;b",true,,0');
});

test('no cell is a formula; numbers stay numbers', () => {
  const formulas = ['=1+1', '+cmd|calc', '@SUM(A1)', '-2+3', '\t=1', '\r=1', '- a list', '=HYPERLINK("x")'];
  for (const text of formulas) expect(csvText([[text]])).toMatch(/^"?'/);
  for (const text of ['-5', '+3.2', '-1,5', '-12%', '1e-7', '-', "it's", 'a=b', '']) {
    expect(csvText([[text]]).replaceAll('"', '')).toBe(text === '-' ? "'-" : text);
  }
  expect(csvText([[-5]])).toBe('-5');
});
