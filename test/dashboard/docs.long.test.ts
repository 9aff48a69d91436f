import { expect } from '@jest/globals';
import { browserOfFile } from '../support/browser.js';
import { serviceOfFile } from '../support/service-of-file.js';

const on = serviceOfFile();
const { test, visit } = browserOfFile();

test('a request of /docs is sent as it is shown, once the reader is authorized', async () => {
  const page = await visit(`${on.service.url}/docs`);
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.locator('#auth-bearer-value, .auth-container input').first().fill(on.service.apiKey);
  await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Apply credentials' }).first().click();
  await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Close' }).first().click();
  const operation = page.locator('[id$=createEvaluation]');
  await operation.getByRole('button').first().click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  await operation.locator('.live-responses-table .response-col_status').getByText('201').waitFor();
  const { data } = await on.service.api.call<{ data: object[] }>('GET', '/api/v1/offline/jobs');
  expect(data).toHaveLength(1);
});
