import { describe, expect, test } from '@jest/globals';
import { cronProblem } from '../../../src/schedules/contract/cron.js';

describe('a cron expression', () => {
  const right = [
    '* * * * *',
    '0 3 * * 1',
    '*/5 * * * *',
    '0,30 8-18 * * MON-FRI',
    '10-50/20 0 1,15 * *',
    '0 0 29 feb *',
    '0 0 31 JAN,feb *',
    '  59   23 31 12 * ',
    '0 0 * * sun',
    '0 0 * * 7',
    '0 0 * * 5-7',
  ];
  test.each(right)('%s is one', (text) => {
    expect(cronProblem(text)).toBeNull();
  });

  const wrong: [string, RegExp][] = [
    ['', /five fields/],
    ['* * * *', /five fields/],
    ['0 * * * * *', /five fields/],
    ['@daily', /five fields/],
    ['CRON_TZ=UTC 0 3 * * 1', /five fields/],
    ['60 * * * *', /"60" as minute.*0 to 59/],
    ['0 24 * * *', /"24" as hour.*0 to 23/],
    ['0 0 0 * *', /"0" as day of month.*1 to 31/],
    ['0 0 1 13 *', /"13" as month.*JAN to DEC/],
    ['0 0 * * 8', /"8" as day of week.*0 to 7, or SUN to SAT/],
    ['0 0 * * MONDAY', /as day of week/],
    ['0 0 * JAN 1-', /as day of week, which must be/],
    ['5/10 * * * *', /as minute, which must be/],
    ['*/0 * * * *', /as minute/],
    ['*/60 * * * *', /as minute/],
    ['30-10 * * * *', /as minute/],
    ['1,,2 * * * *', /as minute/],
    ['L * * * *', /as minute/],
    ['0 0 1 * 1', /day of month or day of week as \*/],
    ['0 0 30 2 *', /never comes due: no month that it names has a day 30/],
    ['0 0 31 2,4,6,9,11 *', /never comes due/],
  ];
  test.each(wrong)('%s is none', (text, problem) => {
    expect(cronProblem(text)).toMatch(problem);
  });
});
