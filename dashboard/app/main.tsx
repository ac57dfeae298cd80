import '../ui/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Tooltip } from '@base-ui/react/tooltip';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from '../api/query-client.ts';
import { SessionProvider } from '../api/session.tsx';
import { App } from './app.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { restoreTheme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element "root"');

/** From here on the bundle handles failed requests itself; `boot.ts` stops doing so. */
document.documentElement.dataset.started = '';
restoreTheme();

createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={createQueryClient()}>
        <ErrorBoundary>
          <SessionProvider>
            <Tooltip.Provider>
              <App />
            </Tooltip.Provider>
          </SessionProvider>
        </ErrorBoundary>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
