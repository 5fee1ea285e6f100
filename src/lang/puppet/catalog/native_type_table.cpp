// Facts about the resource types that are implemented in Ruby: Puppet's own and those of the modules most in use. One
// line a type: name, whether two of one name are a duplicate, the attributes that name it, how they are read from a
// title (when that is not the whole title), all attributes.
#include "lang/puppet/catalog/native_type_table.h"

namespace tutti::puppet {

const char* const kNativeTypes[] = {
    "a2mod\t1\tname\t\tname provider ensure lib identifier",
    "alternative_entry\t1\tname altlink\t^([^:]+)$ => name ;; (?i)^(.*):([a-z]:(/|\\\\).*)$ => name,altlink ;; "
    "^(.*):(.*)$ => name,altlink\tname altlink provider ensure altlink_ro altname priority",
    "alternatives\t1\tname\t\tname provider path mode",
    "anchor\t1\tname\t\tname",
    "apt_key\t1\tid\t\tid provider ensure fingerprint long short expired expiry size type created content source "
    "server options refresh weak_ssl",
    "archive\t1\tpath\t\tpath provider ensure creates filename extract extract_path target extract_command temp_dir "
    "extract_flags cleanup source url cookie checksum digest_string checksum_url digest_url checksum_type "
    "digest_type checksum_verify username password user group proxy_type proxy_server allow_insecure download_options",
    "augeas\t1\tname\t\tname provider returns context onlyif changes root load_path force type_check lens incl "
    "show_diff",
    "cinder_api_paste_ini\t1\tname\t\tname provider ensure value secret ensure_absent_val key_val_separator",
    "cinder_api_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "cinder_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "cinder_qos\t1\tname\t\tname provider ensure associations properties consumer",
    "cinder_rootwrap_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "cinder_type\t1\tname\t\tname provider ensure properties access_project_ids is_public",
    "component\t1\tname\t\tname",
    "concat_file\t1\tpath\t\tpath ensure owner group mode order backup replace validate_cmd ensure_newline format "
    "force selinux_ignore_defaults selrange selrole seltype seluser show_diff",
    "concat_fragment\t1\tname\t\tname target content source order",
    "cron\t1\tname\t\tname provider ensure command special minute hour weekday month monthday environment user target",
    "cs_clone\t1\tname\t\tname provider ensure primitive group clone_max clone_node_max notify_clones "
    "globally_unique ordered interleave cib",
    "cs_colocation\t1\tname\t\tname provider ensure primitives score cib",
    "cs_commit\t1\tname\t\tname provider cib",
    "cs_group\t1\tname\t\tname provider ensure primitives cib",
    "cs_location\t1\tname\t\tname provider ensure primitive node_name resource_discovery score rules cib",
    "cs_order\t1\tname\t\tname provider ensure first second score kind symmetrical cib",
    "cs_primitive\t1\tname\t\tname provider ensure parameters operations utilization metadata ms_metadata promotable "
    "primitive_class primitive_type provided_by cib unmanaged_metadata",
    "cs_property\t1\tname\t\tname provider ensure value cib replace",
    "cs_rsc_defaults\t1\tname\t\tname provider ensure value cib",
    "cs_shadow\t1\tcib\t\tcib provider epoch autocommit",
    "datacat_collector\t1\tpath\t\tpath provider ensure collects target_resource target_field source_key template "
    "template_body",
    "datacat_fragment\t1\tname\t\tname provider target order data",
    "eswitchd_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "etcd_key\t1\tname\t\tname provider ensure value peers cert_file key_file ca_file username password",
    "exec\t0\tcommand\t\tcommand provider returns path user group cwd logoutput refresh environment umask timeout "
    "tries try_sleep refreshonly creates unless onlyif",
    "file\t1\tpath\t(?m)^(/|.+:/|.*[^/])/*\\Z => path\tpath provider ensure content checksum_value target group mode "
    "type seluser selrole seltype selrange ctime mtime owner backup recurse recurselimit max_files replace force "
    "ignore links purge sourceselect show_diff staging_location validate_cmd validate_replacement checksum source "
    "source_permissions selinux_ignore_defaults",
    "file_line\t1\tname\t\tname provider ensure line match match_for_absence multiple after path replace "
    "replace_all_matches_not_matching_line encoding append_on_no_match",
    "filebucket\t1\tname\t\tname server port path",
    "firewall\t1\tname\t\tname provider ensure action source src_range destination dst_range sport dport port "
    "dst_type src_type proto mss tcp_flags chain table jump goto iniface outiface tosource todest toports to "
    "random_fully random reject log_level log_prefix log_uid log_tcp_sequence log_tcp_options log_ip_options "
    "nflog_group nflog_prefix nflog_range nflog_threshold icmp state ctstate ctproto ctorigsrc ctorigdst ctreplsrc "
    "ctrepldst ctorigsrcport ctorigdstport ctreplsrcport ctrepldstport ctstatus ctexpire ctdir connmark "
    "connlimit_above connlimit_mask hop_limit limit burst uid gid match_mark set_mark clamp_mss_to_pmtu set_dscp "
    "set_dscp_class set_mss pkttype isfragment recent rdest rsource rname rseconds reap rhitcount rttl rpfilter "
    "socket ishasmorefrags islastfrag isfirstfrag ipsec_policy ipsec_dir stat_mode stat_every stat_packet "
    "stat_probability mask gateway ipset checksum_fill mac_source physdev_in physdev_out physdev_is_bridged "
    "physdev_is_in physdev_is_out date_start date_stop time_start time_stop month_days week_days time_contiguous "
    "kernel_timezone clusterip_new clusterip_hashmode clusterip_clustermac clusterip_total_nodes "
    "clusterip_local_node clusterip_hash_init length string string_hex string_algo string_from string_to queue_num "
    "queue_bypass src_cc dst_cc hashlimit_name hashlimit_upto hashlimit_above hashlimit_burst hashlimit_mode "
    "hashlimit_srcmask hashlimit_dstmask hashlimit_htable_size hashlimit_htable_max hashlimit_htable_expire "
    "hashlimit_htable_gcinterval bytecode ipvs zone helper cgroup notrack condition onduplicaterulebehaviour line",
    "firewallchain\t1\tname\t\tname provider ensure policy purge ignore ignore_foreign",
    "gitremote\t1\tname\t\tname provider ensure url fetches remotename directory confowner",
    "glance_api_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "glance_api_paste_ini\t1\tname\t\tname provider ensure value secret ensure_absent_val key_val_separator",
    "glance_api_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "glance_cache_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "glance_image\t1\tname\t\tname provider ensure id is_public container_format disk_format min_ram min_disk "
    "project_id properties image_tag location source proxy project_name",
    "glance_image_import_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "glance_rootwrap_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "glance_swift_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "group\t1\tname\t\tname provider ensure gid members attributes auth_membership allowdupe ia_load_module "
    "attribute_membership system forcelocal",
    "heat_api_cfn_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "heat_api_paste_ini\t1\tname\t\tname provider ensure value secret ensure_absent_val key_val_separator",
    "heat_api_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "heat_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "host\t1\tname\t\tname provider ensure ip host_aliases comment target",
    "ini_setting\t1\tname\t\tname provider ensure value section setting force_new_section_creation path show_diff "
    "key_val_separator section_prefix section_suffix indent_char indent_width refreshonly",
    "ini_subsetting\t1\tname\t\tname provider ensure value section setting subsetting subsetting_separator "
    "subsetting_key_val_separator path show_diff key_val_separator quote_char use_exact_match insert_type "
    "insert_value delete_if_empty",
    "ironic_config\t1\tname\t\tname provider ensure value secret ensure_absent_val transform_to",
    "ironic_inspector_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "ironic_neutron_agent_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "keystone_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "keystone_domain\t1\tname\t\tname provider ensure enabled description is_default id",
    "keystone_domain_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "keystone_endpoint\t1\tname region type\t^((?:[^\\/]+))/((?:(?:[^:]|:[^:])+))::((?:.+))$ => region,name,type ;; "
    "^((?:[^\\/]+))/((?:(?:[^:]|:[^:])+))$ => region,name ;; ^((?:(?:[^:]|:[^:])+))::((?:.+))$ => name,type ;; "
    "^((?:(?:[^:]|:[^:])+))$ => name\tname region type provider ensure id public_url internal_url admin_url",
    "keystone_identity_provider\t1\tname\t\tname provider ensure enabled description remote_ids remote_id_file id",
    "keystone_puppet_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "keystone_role\t1\tname\t\tname provider ensure id",
    "keystone_service\t1\tname type\t^((?:(?:[^:]|:[^:])+))::((?:(?:[^:]|:[^:])+))$ => name,type ;; "
    "^((?:(?:[^:]|:[^:])+))$ => name\tname type provider ensure id description",
    "keystone_tenant\t1\tname domain\t^((?:(?:[^:]|:[^:])+))::((?:(?:[^:]|:[^:])+))$ => name,domain ;; "
    "^((?:(?:[^:]|:[^:])+))$ => name\tname domain provider ensure enabled description id",
    "keystone_user\t1\tname domain\t^((?:(?:[^:]|:[^:])+))::((?:(?:[^:]|:[^:])+))$ => name,domain ;; "
    "^((?:(?:[^:]|:[^:])+))$ => name\tname domain provider ensure enabled password description email id "
    "replace_password",
    "keystone_user_role\t1\tname user project user_domain project_domain domain "
    "system\t^((?:(?:[^:]|:[^:])+))::((?:(?:[^:@]|:[^:@])+))@((?:(?:[^:@]|:[^:@])+))::((?:(?:[^:]|:[^:])+))$ => "
    "user,user_domain,project,project_domain ;; ^((?:(?:[^:]|:[^:])+))::((?:(?:[^:@]|:[^:@])+))@::((?:(?:[^:]|:[^:])+"
    "))$ => user,user_domain,domain ;; ^((?:(?:[^:]|:[^:])+))::((?:(?:[^:@]|:[^:@])+))@((?:(?:[^:@]|:[^:@])+))$ => "
    "user,user_domain,project ;; ^((?:(?:[^:]|:[^:])+))@((?:(?:[^:@]|:[^:@])+))::((?:(?:[^:]|:[^:])+))$ => "
    "user,project,project_domain ;; ^((?:(?:[^:]|:[^:])+))@::((?:(?:[^:]|:[^:])+))$ => user,domain ;; "
    "^((?:(?:[^:]|:[^:])+))@((?:(?:[^:@]|:[^:@])+))$ => user,project ;; "
    "^((?:(?:[^:]|:[^:])+))::((?:(?:[^:@]|:[^:@])+))@::::((?:(?:[^:]|:[^:])+))$ => user,user_domain,system ;; "
    "^((?:(?:[^:]|:[^:])+))@::::((?:(?:[^:]|:[^:])+))$ => user,system\tname user project user_domain project_domain "
    "domain system provider ensure roles",
    "keystone_uwsgi_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "libvirtd_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "loginctl_user\t1\tname\t\tname provider linger",
    "mailalias\t1\tname\t\tname provider ensure recipient file target",
    "mongodb_database\t1\tname\t\tname provider ensure tries",
    "mongodb_replset\t1\tname\t\tname provider ensure members",
    "mongodb_user\t1\tname\t\tname provider ensure roles password_hash database tries",
    "mount\t1\tname\t\tname provider ensure device blockdevice fstype options pass atboot dump target remounts",
    "mysql_database\t1\tname\t\tname provider ensure charset collate",
    "mysql_datadir\t1\tdatadir\t\tdatadir provider ensure basedir user defaults_extra_file insecure log_error",
    "mysql_grant\t1\tname\t\tname provider ensure privileges table user options",
    "mysql_plugin\t1\tname\t\tname provider ensure soname",
    "mysql_user\t1\tname\t\tname provider ensure password_hash plugin max_user_connections max_connections_per_hour "
    "max_queries_per_hour max_updates_per_hour tls_options",
    "neutron_agent_linuxbridge\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_agent_macvtap\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_agent_ovs\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_agent_sriov_numvfs\t1\tname\t\tname provider ensure",
    "neutron_agent_vpp\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_api_paste_ini\t1\tname\t\tname provider ensure value secret ensure_absent_val key_val_separator",
    "neutron_api_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_bgp_dragent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_bgpvpn_bagpipe_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_bgpvpn_service_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_dhcp_agent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_l2gw_agent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_l2gw_service_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_l3_agent_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_l3_ovs_bridge\t1\tname\t\tname provider ensure subnet_name",
    "neutron_metadata_agent_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_metering_agent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_mlnx_agent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_network\t1\tname\t\tname provider ensure id admin_state_up shared project_id tenant_id "
    "provider_network_type provider_physical_network provider_segmentation_id router_external availability_zone_hint "
    "mtu project_name tenant_name",
    "neutron_plugin_linuxbridge\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_plugin_ml2\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_plugin_nsx\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_plugin_nuage\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_plugin_opencontrail\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "neutron_port\t1\tname\t\tname provider ensure id admin_state_up network_name network_id subnet_name subnet_id "
    "ip_address status project_id tenant_id binding_host_id binding_profile project_name tenant_name",
    "neutron_rootwrap_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_router\t1\tname\t\tname provider ensure id admin_state_up external_gateway_info gateway_network_name "
    "gateway_network_id status project_id tenant_id distributed ha availability_zone_hint project_name tenant_name",
    "neutron_router_interface\t1\tname\t\tname provider ensure id router_name subnet_name port",
    "neutron_security_group\t1\tname\t\tname provider ensure id description project project_domain",
    "neutron_sfc_service_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_sriov_agent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_subnet\t1\tname\t\tname provider ensure id cidr ip_version ipv6_ra_mode ipv6_address_mode "
    "allocation_pools gateway_ip enable_dhcp host_routes dns_nameservers network_id project_id tenant_id "
    "network_name project_name tenant_name",
    "neutron_vpnaas_agent_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "neutron_vpnaas_service_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "notify\t1\tname\t\tname message withpath",
    "nova_aggregate\t1\tname\t\tname provider ensure id availability_zone metadata hosts filter_hosts",
    "nova_api_metadata_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "nova_api_paste_ini\t1\tname\t\tname provider ensure value secret ensure_absent_val key_val_separator",
    "nova_api_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "nova_cell_v2\t1\tname\t\tname provider ensure uuid transport_url database_connection",
    "nova_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "nova_flavor\t1\tname\t\tname provider ensure project project_name properties id ram disk vcpus ephemeral swap "
    "rxtx_factor is_public",
    "nova_rootwrap_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "nova_service\t1\tname\t\tname provider ensure ids service_name",
    "openstack_config\t1\t\t\tprovider",
    "ovn_metadata_agent_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "package\t1\tname provider command\t(?m)(.*) => name\tname provider command ensure package_settings flavor mark "
    "source instance status adminfile responsefile configfiles category platform root vendor description allowcdrom "
    "enable_only install_only install_options uninstall_options allow_virtual reinstall_on_refresh",
    "placement_api_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "placement_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "policy_rcd\t1\tname\t\tname provider ensure service set_code",
    "posix_acl\t1\tpath\t\tpath provider permission action recursemode recursive",
    "postgresql_conf\t1\tname\t\tname provider ensure value target",
    "postgresql_conn_validator\t1\tname\t\tname provider ensure db_name db_username db_password host port "
    "connect_settings sleep tries psql_path run_as command",
    "postgresql_psql\t1\tname\t\tname provider command unless onlyif connect_settings db port search_path psql_path "
    "psql_user psql_group cwd environment refreshonly",
    "postgresql_replication_slot\t1\tname\t\tname provider ensure",
    "rabbitmq_binding\t1\tname\t(?m)(^([^@]*)$) => name ;; (?m)^((\\S+)@(\\S+)@(\\S+))$ => "
    "name,source,destination,vhost\tname provider ensure source destination vhost routing_key destination_type "
    "arguments user password",
    "rabbitmq_erlang_cookie\t1\tpath\t\tpath provider content force rabbitmq_user rabbitmq_group rabbitmq_home "
    "service_name",
    "rabbitmq_exchange\t1\tname\t\tname provider ensure type durable auto_delete internal arguments user password",
    "rabbitmq_parameter\t1\tname\t\tname provider ensure component_name value",
    "rabbitmq_plugin\t1\tname\t\tname provider ensure umask",
    "rabbitmq_policy\t1\tname\t\tname provider ensure pattern applyto definition priority",
    "rabbitmq_queue\t1\tname\t\tname provider ensure durable auto_delete arguments user password",
    "rabbitmq_user\t1\tname\t\tname provider ensure password admin tags",
    "rabbitmq_user_permissions\t1\tname\t\tname provider ensure configure_permission read_permission write_permission",
    "rabbitmq_vhost\t1\tname\t\tname provider ensure",
    "resources\t1\tname\t\tname purge unless_system_user unless_uid",
    "ring_account_device\t1\tname\t\tname provider ensure region zone weight meta id partitions balance",
    "ring_container_device\t1\tname\t\tname provider ensure region zone weight meta id partitions balance",
    "ring_object_device\t1\tname\t\tname provider ensure region zone weight meta id partitions balance",
    "schedule\t1\tname\t\tname range periodmatch period repeat weekday",
    "selboolean\t1\tname\t\tname provider value persistent",
    "selmodule\t1\tname\t\tname provider ensure syncversion selmoduledir selmodulepath",
    "service\t1\tname\t\tname provider ensure enable logonaccount flags logonpassword binary hasstatus path pattern "
    "restart start status stop control hasrestart manifest timeout",
    "ssh_authorized_key\t1\tname\t\tname provider ensure type key user target options drop_privileges",
    "sshkey\t1\ttype name\t^(.*?)@(.*)$ => name,type ;; ^([^@]+)$ => name\ttype name provider ensure key "
    "host_aliases target",
    "ssl_pkey\t1\tpath\t\tpath provider ensure authentication size password",
    "stage\t1\tname\t\tname",
    "swift_account_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_account_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "swift_bench_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_container_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_container_reconciler_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_container_sync_realms_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_container_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "swift_dispersion_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_drive_audit_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_internal_client_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_keymaster_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_memcache_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_object_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_object_expirer_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_proxy_config\t1\tname\t\tname provider ensure value secret ensure_absent_val",
    "swift_proxy_uwsgi_config\t1\tname\t\tname provider ensure value ensure_absent_val",
    "swift_storage_policy\t1\tname\t\tname provider ensure policy_name aliases policy_type default deprecated "
    "ec_type ec_num_data_fragments ec_num_parity_fragments ec_object_segment_size",
    "sysctl\t1\tname\t\tname provider ensure val target",
    "sysctl_runtime\t1\tname\t\tname provider val",
    "tidy\t0\tpath\t\tpath recurse max_files matches backup age size type rmdirs",
    "user\t1\tname\t\tname provider ensure home uid gid comment shell password password_min_age password_max_age "
    "password_warn_days groups expiry roles auths profiles keys project attributes salt iterations loginclass "
    "membership system allowdupe managehome role_membership auth_membership profile_membership key_membership "
    "ia_load_module attribute_membership forcelocal purge_ssh_keys",
    "vcsrepo\t1\tpath\t\tpath provider ensure revision source fstype owner group user excludes force compression "
    "basic_auth_username basic_auth_password identity module remote configuration cvs_rsh depth branch p4config "
    "submodules conflict",
    "virtlockd_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "virtlogd_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "virtnodedevd_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "virtproxyd_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "virtqemud_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "virtsecretd_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "virtstoraged_config\t1\tname\t\tname provider ensure value secret quote ensure_absent_val",
    "vs_bridge\t1\tname\t\tname provider ensure external_ids mac_table_size",
    "vs_config\t1\tname\t\tname provider ensure value skip_if_version wait restart",
    "vs_port\t1\tport\t\tport provider ensure interface interface_type bond_mode lacp lacp_time vlan_mode vlan_tag "
    "vlan_trunks bridge fail_mode",
    "vs_ssl\t1\tname\t\tname provider ensure key_file cert_file ca_file bootstrap",
    "wait_for\t1\tquery\t\tquery provider exit_code regex seconds environment timeout max_retries polling_frequency "
    "refreshonly",
    "whit\t1\tname\t\tname",
    "x509_cert\t1\tpath\t\tpath provider ensure private_key days force password req_ext template authentication",
    "x509_request\t1\tpath\t\tpath provider ensure force password template private_key authentication",
};
const std::size_t kNativeTypeCount = sizeof kNativeTypes / sizeof kNativeTypes[0];

}  // namespace tutti::puppet
