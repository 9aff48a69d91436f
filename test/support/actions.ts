import type { Page } from 'playwright-core';

/** Chooses an action of a page in its menu. */
export async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('group', { name: 'Actions' }).getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}
