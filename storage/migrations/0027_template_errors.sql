-- Which request of a webhook does not render: `events`, or a role of template mode.
alter table destinations add column template_error_request text;
