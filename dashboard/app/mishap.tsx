import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import css from './mishap.module.css';

/**
 * Catches what a view throws. A part of the dashboard that cannot be fetched means that the gateway was updated
 * under this page; everything else is a fault of the dashboard, shown with its words.
 */
export class Mishap extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const updated = /dynamically imported module|module script|preload CSS/i.test(error.message);
    return (
      <div className={css.mishap} role="alert">
        <h1>{updated ? 'The dashboard was updated' : 'This view broke'}</h1>
        <p>
          {updated
            ? 'The gateway serves a newer dashboard than this page. Reload it.'
            : 'That is a fault of the dashboard; the gateway itself is not touched by it.'}
        </p>
        {updated ? null : <pre>{error.message}</pre>}
        <Button look="main" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </div>
    );
  }
}
