/** The dialogs of Commands, as one file of code that follows the rows of the list (ui §13). */
export { default as BulkConfirm } from '../alert-group-list/bulk/BulkConfirm.svelte';
export { default as BulkProgress } from '../alert-group-list/bulk/BulkProgress.svelte';
export { default as BulkResultDialog } from './BulkResultDialog.svelte';
export { default as CommandDialog } from './CommandDialog.svelte';
export { default as NoteDialog } from './NoteDialog.svelte';
export { default as ResolveDialog } from './ResolveDialog.svelte';
export { default as SnoozeDialog } from './SnoozeDialog.svelte';
