import type { BrowserContext, ConsoleMessage, Page } from 'playwright/test';

/** Collects forbidden events of the pages of a test. */
export interface PageMonitor {
  /** Allows failures that the test provokes; matches lines like `Failed to load resource: … 401 … /api/auth/login`. */
  allow(pattern: RegExp): void;
  /** Events that were not allowed. */
  faults(): string[];
}

/** Reports every policy violation, also those that the browser does not print. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP violation: ' + event.violatedDirective + ' ' + event.blockedURI));`;

const isFault = (message: ConsoleMessage): boolean =>
  message.type() === 'error' || /Content Security Policy/i.test(message.text());

function pathOf(address: string): string {
  return URL.canParse(address) ? new URL(address).pathname : address;
}

/** Collects console errors, page errors, policy violations and requests to other origins of every page. */
export async function monitorContext(context: BrowserContext): Promise<PageMonitor> {
  const faultLines: string[] = [];
  const allowed: RegExp[] = [];
  const watchPage = (page: Page): void => {
    page.on('console', (message) => {
      if (isFault(message)) faultLines.push(`${message.text()} ${pathOf(message.location().url)}`);
    });
    page.on('pageerror', (error) => faultLines.push(`page error: ${error.message}`));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (request.isNavigationRequest() || protocol === 'data:' || page.url() === 'about:blank') return;
      if (origin !== new URL(page.url()).origin)
        faultLines.push(`request to another origin: ${request.url()}`);
    });
  };
  await context.addInitScript(REPORT_VIOLATIONS);
  context.on('page', watchPage);
  // A reused context has its page already.
  for (const page of context.pages()) watchPage(page);
  return {
    allow: (pattern) => void allowed.push(pattern),
    faults: () => faultLines.filter((line) => !allowed.some((pattern) => pattern.test(line))),
  };
}
