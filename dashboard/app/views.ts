import {
  Activity,
  Boxes,
  BrainCircuit,
  Cpu,
  LayoutDashboard,
  type LucideIcon,
  MessageSquareText,
  NotebookPen,
  Settings2,
  ShieldCheck,
} from 'lucide-react';

export interface TabLink {
  id: string;
  word: string;
}

export interface ViewLink {
  path: string;
  word: string;
  icon: LucideIcon;
  /** Tabs of the view; the first is the default. */
  tabs: readonly TabLink[];
  /** Shown in the bottom bar of a phone; the other views are under "More". */
  first?: true;
}

export const SLOT_TABS: readonly TabLink[] = [
  { id: 'all', word: 'Slots' },
  { id: 'upstreams', word: 'Upstreams' },
];
export const MODEL_TABS: readonly TabLink[] = [
  { id: 'installed', word: 'Installed' },
  { id: 'catalog', word: 'Catalogue' },
];
/** One tab for each kind of request; the first is the default. */
export const PLAYGROUND_TABS: readonly TabLink[] = [
  { id: 'chat', word: 'Chat' },
  { id: 'completion', word: 'Completion' },
  { id: 'embeddings', word: 'Embeddings' },
  { id: 'rerank', word: 'Rerank' },
  { id: 'speech', word: 'Speech' },
  { id: 'transcription', word: 'Transcription' },
  { id: 'image', word: 'Image' },
  { id: 'voice', word: 'Voice' },
];
export const REQUEST_TABS: readonly TabLink[] = [
  { id: 'log', word: 'Requests' },
  { id: 'usage', word: 'Usage' },
  { id: 'explain', word: 'Explain' },
];
export const SECURITY_TABS: readonly TabLink[] = [
  { id: 'posture', word: 'Access' },
  { id: 'rotate', word: 'Rotate keys' },
  { id: 'exposure', word: 'Exposure' },
  { id: 'sessions', word: 'Sessions' },
  { id: 'audit', word: 'Audit' },
];
export const SETTINGS_TABS: readonly TabLink[] = [
  { id: 'all', word: 'Settings' },
  { id: 'logs', word: 'Log' },
];

/** The views in menu order. */
export const VIEWS: readonly ViewLink[] = [
  { path: '/overview', word: 'Overview', icon: LayoutDashboard, tabs: [], first: true },
  { path: '/slots', word: 'Slots', icon: Boxes, tabs: SLOT_TABS, first: true },
  { path: '/models', word: 'Models', icon: BrainCircuit, tabs: MODEL_TABS },
  { path: '/playground', word: 'Playground', icon: MessageSquareText, tabs: PLAYGROUND_TABS, first: true },
  { path: '/requests', word: 'Requests', icon: Activity, tabs: REQUEST_TABS, first: true },
  { path: '/hardware', word: 'Hardware', icon: Cpu, tabs: [] },
  { path: '/memory', word: 'Notes', icon: NotebookPen, tabs: [] },
  { path: '/security', word: 'Security', icon: ShieldCheck, tabs: SECURITY_TABS },
  { path: '/settings', word: 'Settings', icon: Settings2, tabs: SETTINGS_TABS },
];
